package websocket_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	ws "github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
)

// Pings from both sides each millisecond, sixteen senders, and Close in the middle.
func TestL13PingsAndMessagesAtOnce(t *testing.T) {
	nothingLeft(t)
	ping := websocket.Options{Ping: time.Millisecond, PingTimeout: 30 * time.Second}
	server, conns := serving(t, httptest.NewServer, websocket.AcceptOptions{Options: ping}, conn.Options{Handler: echoes})
	_, c := connect(t, address(server), websocket.DialOptions{Options: ping}, conn.Options{})
	const senders, each = 16, 200
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for n := range each {
				want := fmt.Sprintf("%d", n)
				got, err := c.Call(background, "m", []byte(want), conn.CallOptions{})
				if err != nil || string(got) != want {
					t.Errorf("%q: %q, %v", want, got, err)
				}
			}
		})
	}
	wg.Wait()
	for range senders {
		wg.Go(func() {
			for {
				if _, err := c.Call(background, "m", nil, conn.CallOptions{}); err != nil {
					require.ErrorIs(t, err, conn.ErrClosed)
					return
				}
			}
		})
	}
	works(t, c)
	require.NoError(t, c.Close())
	wg.Wait()
	<-c.Done()
	far := <-conns
	<-far.Done()
	require.Zero(t, c.Stats().Calls.Pending)
}

// A peer that pings and does not read: the reader is not held up by the pongs it
// owes while the writer is stuck.
func TestL13PongsDoNotWaitForAPeerThatDoesNotRead(t *testing.T) {
	nothingLeft(t)
	over := make(chan struct{})
	url := hand(t, func(socket *ws.Conn) {
		// Nothing is read, so the pongs stay where they are, and nobody waits for one: a
		// ping whose context ends while it is written would end the link.
		ctx, cancel := context.WithCancel(background)
		var pings sync.WaitGroup
		defer pings.Wait()
		defer cancel()
		for n := range 200 {
			pings.Go(func() { _ = socket.Ping(ctx) })
			if err := socket.Write(background, ws.MessageText, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"n","params":[%d]}`, n)); err != nil {
				t.Error(err)
			}
		}
		<-over
	})
	seen := make(chan string, 200)
	_, c := connect(t, url, websocket.DialOptions{}, conn.Options{
		WriteBuffer: 64 << 20, CloseTimeout: -1,
		Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) { seen <- string(r.Params()) }),
	})
	for range 4 { // more than the system takes: the writer is stuck
		require.NoError(t, c.Notify(background, "big", []byte(`"`+strings.Repeat("x", 8<<20)+`"`)))
	}
	for n := range 200 {
		require.Equal(t, fmt.Sprintf("[%d]", n), <-seen)
	}
	require.NoError(t, c.Err())
	close(over)
}

// pendingTen makes ten calls and returns them with the ids that the peer saw.
func pendingTen(t *testing.T, c *conn.Conn, ids <-chan json.RawMessage) (seen []json.RawMessage, ended map[string]chan conn.Outcome) {
	ended = map[string]chan conn.Outcome{}
	for range 10 {
		done := make(chan conn.Outcome, 1)
		_, err := c.Start(background, "m", nil, conn.CallOptions{Timeout: conn.NoTimeout}, func(o conn.Outcome) {
			o.Value = append([]byte(nil), o.Value...)
			done <- o
		})
		require.NoError(t, err)
		id := <-ids
		seen = append(seen, id)
		ended[string(id)] = done
	}
	return seen, ended
}

func TestL18OversizeMessageOnASharedWebSocket(t *testing.T) {
	nothingLeft(t)
	for _, closes := range []bool{false, true} {
		ids, release, status := make(chan json.RawMessage, 16), make(chan struct{}), make(chan ws.StatusCode, 1)
		url := hand(t, func(socket *ws.Conn) {
			var asked []json.RawMessage
			for range 10 {
				_, text, err := socket.Read(background)
				if err != nil {
					t.Error(err)
					return
				}
				var m struct{ ID json.RawMessage }
				_ = json.Unmarshal(text, &m)
				asked = append(asked, m.ID)
				ids <- m.ID
			}
			<-release
			for n, id := range asked {
				size := 1
				if n == 2 {
					size = 2 << 20
				}
				answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%q}`, id, strings.Repeat("x", size))
				if socket.Write(background, ws.MessageText, []byte(answer)) != nil {
					break // it hung up
				}
			}
			for {
				if _, _, err := socket.Read(background); err != nil {
					status <- ws.CloseStatus(err)
					return
				}
			}
		})
		o := websocket.DialOptions{}
		if closes {
			o.ReadLimit = 1 << 20
		}
		_, c := connect(t, url, o, conn.Options{MaxFrame: 1 << 20, MaxFrameOut: 1 << 20})
		_, err := c.Call(background, "m", []byte(`"`+strings.Repeat("x", 1<<20)+`"`), conn.CallOptions{})
		require.ErrorIs(t, err, conn.ErrTooLarge, "and the other way")
		seen, ended := pendingTen(t, c, ids)
		close(release)
		for n, id := range seen {
			end := <-ended[string(id)]
			switch {
			case closes && n > 2:
				require.ErrorIs(t, end.Err, conn.ErrClosed)
				require.ErrorIs(t, end.Err, websocket.ErrReadLimit, "the cause, for all at once")
			case n == 2:
				require.ErrorIs(t, end.Err, conn.ErrInvalidAnswer)
				require.ErrorIs(t, end.Err, codec.ErrFrameTooLarge)
			default:
				require.NoError(t, end.Err)
				require.Equal(t, `"x"`, string(end.Value))
			}
		}
		if closes {
			require.Equal(t, ws.StatusMessageTooBig, <-status)
			<-c.Done()
			continue
		}
		require.EqualValues(t, 1, c.Stats().TooLarge)
		require.NoError(t, c.Close())
		require.Equal(t, ws.StatusNormalClosure, <-status)
	}
}

// After a ping the server's reader is back where it waits with little on its stack.
func TestPingsLeaveNoDeepStack(t *testing.T) {
	nothingLeft(t)
	s, conns := serving(t, httptest.NewServer, websocket.AcceptOptions{}, conn.Options{})
	peer, _, err := ws.Dial(t.Context(), address(s), nil)
	require.NoError(t, err)
	peer.CloseRead(t.Context()) // hears pongs
	server := <-conns
	for range 3 {
		require.NoError(t, peer.Ping(t.Context()))
		require.Eventually(t, func() bool {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			return bytes.Contains(stacks, []byte("(*intake).await")) && !bytes.Contains(stacks, []byte("(*Stream).look"))
		}, time.Minute, time.Millisecond)
	}
	_ = server.Close()
	_ = peer.CloseNow()
}
