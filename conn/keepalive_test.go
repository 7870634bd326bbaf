package conn_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// alive connects to a peer that answers pings as answer does, and counts them.
func alive(t *testing.T, o conn.Options, handler conn.HandlerFunc) *conn.Conn {
	t.Helper()
	a, b := net.Pipe()
	peer, err := conn.New(b, conn.Options{Handler: handler, PassPing: true})
	require.NoError(t, err)
	c, err := conn.New(a, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		_ = peer.Close()
	})
	return c
}

func TestKeepAlive(t *testing.T) {
	for name, reply := range map[string]func(*conn.Inbound){
		"answered": func(r *conn.Inbound) { _ = r.Reply([]byte(`{}`)) },
		"refused":  func(r *conn.Inbound) { _ = r.ReplyError(&codec.Error{Code: codec.CodeMethodNotFound, Message: "?"}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var pings []string
				c := alive(t, conn.Options{KeepAlive: 30 * time.Second, KeepAliveTimeout: 5 * time.Second, KeepAliveMethod: "$/alive"},
					func(_ context.Context, r *conn.Inbound) {
						pings = append(pings, r.Method())
						reply(r)
					})
				<-time.After(5*time.Minute + time.Second)
				synctest.Wait()
				require.NoError(t, c.Err())
				require.Len(t, pings, 10)
				require.Equal(t, "$/alive", pings[0])
				require.Zero(t, c.Stats().Calls.Pending)
			})
		})
	}
}

// A peer that is not there any more, with no sign of it in the stream.
func TestKeepAliveSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, b) }()
		t.Cleanup(func() { _ = b.Close() })
		c, err := conn.New(a, conn.Options{KeepAlive: 30 * time.Second, KeepAliveTimeout: 5 * time.Second})
		require.NoError(t, err)
		begun := time.Now()
		_, err = c.Call(t.Context(), "m", nil, conn.CallOptions{Timeout: engine.NoTimeout})
		require.Equal(t, 35*time.Second, time.Since(begun))
		require.ErrorIs(t, err, conn.ErrClosed)
		silent, ok := errors.AsType[*conn.PeerSilent](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, conn.PeerSilent{Method: conn.DefaultKeepAliveMethod, Silence: 35 * time.Second, Limit: 5 * time.Second}, *silent)
		<-c.Done()
		require.ErrorAs(t, c.Err(), &silent)
	})
}

// A peer that does not even read: no ping can go out, and it is silent all the
// same.
func TestKeepAliveDeafPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		t.Cleanup(func() { _ = b.Close() })
		c, err := conn.New(a, conn.Options{KeepAlive: 30 * time.Second, WriteBuffer: 1})
		require.NoError(t, err)
		_, err = c.Call(t.Context(), "m", nil, conn.CallOptions{Timeout: engine.NoTimeout})
		_, ok := errors.AsType[*conn.PeerSilent](err)
		require.True(t, ok, "%v", err)
		<-c.Done()
	})
}

// Calls that time out retire nothing, while the peer still says anything at
// all, be it of no use to anybody.
func TestL20OnlySilenceRetires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		c, err := conn.New(a, conn.Options{KeepAlive: 10 * time.Second, KeepAliveTimeout: 5 * time.Second})
		require.NoError(t, err)
		t.Cleanup(func() {
			_ = b.Close()
			<-c.Done()
		})
		go func() { // answers nothing but pings, and those with a banner
			for lines := bufio.NewScanner(b); lines.Scan(); {
				if strings.Contains(lines.Text(), `"ping"`) {
					_, _ = io.WriteString(b, "still here\n")
				}
			}
		}()
		for range 100 {
			_, err := c.Call(t.Context(), "slow", nil, conn.CallOptions{Timeout: time.Second})
			require.ErrorIs(t, err, conn.ErrTimeout)
		}
		require.NoError(t, c.Err())
	})
}
