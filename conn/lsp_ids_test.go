package conn_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// The ids of the LSP profile fit 32 bits, as the protocol has it and servers in use
// read them, however often a place in the table is used again; whichever way a call is
// made, and in the cancels that name them.
func TestIDsOfLSPFit32Bits(t *testing.T) {
	c, p := connect(t, conn.Options{Profile: codec.LSP})
	ended := make(chan conn.Outcome, 1)
	notify := func(o conn.Outcome) { ended <- o }
	seen := map[int64]bool{}
	id := func(text []byte) int64 {
		n, err := strconv.ParseInt(string(text), 10, 64)
		require.NoError(t, err)
		require.LessOrEqual(t, n, int64(math.MaxInt32))
		return n
	}
	for i := range 1500 {
		switch i % 3 {
		case 0:
			go func() {
				_, err := c.Call(background, "x", nil, conn.CallOptions{})
				ended <- conn.Outcome{Err: err}
			}()
		case 1:
			_, err := c.Start(background, "x", nil, conn.CallOptions{}, notify)
			require.NoError(t, err)
		case 2:
			_, err := c.Submit(background, []conn.Request{{Method: "x", Notify: notify}})
			require.NoError(t, err)
		}
		m := p.read()
		n := id(m.ID)
		require.False(t, seen[n], "%d twice", n)
		seen[n] = true
		if i%100 == 1 {
			require.True(t, c.Cancel(codec.IntID(n), nil))
			cancel := p.read()
			require.Equal(t, "$/cancelRequest", cancel.Method)
			require.JSONEq(t, `{"id":`+string(m.ID)+`}`, string(cancel.Params))
			require.ErrorIs(t, (<-ended).Err, conn.ErrCancelled)
			continue
		}
		p.result(m, "1")
		require.NoError(t, (<-ended).Err)
	}
}
