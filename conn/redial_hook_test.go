package conn_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// A hook that panics ends the dial it belongs to, not the program.
func TestRedialHooksThatPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		var panics []any
		dials, connects := 0, 0
		r, err := conn.NewRedialer(conn.RedialOptions{
			Dial: func(ctx context.Context) (*conn.Conn, error) {
				if dials++; dials == 1 {
					panic("in Dial")
				}
				return s.dial(ctx)
			},
			OnConnect: func(context.Context, *conn.Conn) error {
				if connects++; connects == 1 {
					panic("in OnConnect")
				}
				return nil
			},
			OnDown:   func(error) { panic("in OnDown") },
			OnPanic:  func(v any, _ []byte) { panics = append(panics, v) },
			Attempts: 3,
		})
		require.NoError(t, err)
		answer, err := r.Call(background, "m", []byte("1"), conn.CallOptions{})
		require.NoError(t, err, "the third dial is a good one")
		require.Equal(t, "1", string(answer))
		s.end(r)
		require.Equal(t, []any{"in Dial", "in OnConnect", "in OnDown"}, panics)
	})
}
