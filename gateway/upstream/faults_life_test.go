package upstream_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway/duplex"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// owner is a link.Owner that counts.
type owner struct {
	got, failed, gone atomic.Int64
	over              chan struct{} // closed when it has gone
	onGone            func(err error)
}

func newOwner() *owner { return &owner{over: make(chan struct{})} }

func (o *owner) Receive(*link.Burst, *codec.Message) error {
	o.got.Add(1)
	return nil
}
func (o *owner) ReceiveFor(int64, *link.Burst, *codec.Message) error {
	o.got.Add(1)
	return nil
}
func (o *owner) Refused(*link.Burst, *codec.Message, error) {}
func (o *owner) Fail(int64, error)                          { o.failed.Add(1) }
func (o *owner) Dispatch(int64) bool                        { return true }
func (o *owner) Gone(err error) {
	if o.onGone != nil {
		o.onGone(err)
	}
	if o.gone.Add(1) == 1 {
		close(o.over)
	}
}

// aCall is the frame of a call.
func aCall(number int64, method string) *link.Frame {
	return &link.Frame{Bytes: codec.AppendRequest(nil, codec.IntID(number), method, nil), Call: number, Class: link.Ask}
}

// base waits until no more goroutines run than before.
func base(t *testing.T, before int) {
	t.Helper()
	late := time.After(time.Minute)
	for runtime.NumGoroutine() > before {
		select {
		case <-late:
			stacks := make([]byte, 1<<20)
			require.Failf(t, "goroutines are left behind", "%s", stacks[:runtime.Stack(stacks, true)])
		default:
			runtime.Gosched()
		}
	}
}

// A thousand times: dial, ten calls in flight, and then the peer resets, we close, or
// whoever dials gives up. Nothing is left behind.
func TestL15NothingLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				in := bufio.NewReader(c)
				reset := false
				for range 10 {
					line, err := in.ReadString('\n')
					if reset = strings.Contains(line, "reset"); err != nil {
						break
					}
				}
				if reset {
					_ = c.(*net.TCPConn).SetLinger(0) // a reset
				} else {
					_, _ = io.Copy(io.Discard, in)
				}
				_ = c.Close()
			})
		}
	})
	opener := upstream.Dial("tcp", l.Addr().String(), conn.Options{})
	for n := range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		o := newOwner()
		if n%5 == 4 {
			cancel()
			_, err := opener.Open(ctx, o, link.Key{})
			require.Error(t, err)
			require.Zero(t, o.gone.Load(), "what was not opened does not go")
			continue
		}
		up, err := opener.Open(ctx, o, link.Key{})
		require.NoError(t, err)
		cancel() // it was for the dialling alone
		method := "reset"
		if n%2 == 1 {
			method = "stay"
		}
		for k := range int64(10) {
			if err := up.Send(aCall(k+1, method), nil); err != nil {
				require.ErrorIs(t, err, link.ErrGone)
			}
		}
		if n%2 == 1 {
			up.End(errors.New("enough"))
		}
		<-o.over
		require.EqualValues(t, 1, o.gone.Load())
		up.End(nil)
		up.Cancel(1, link.Cancel{})
		require.ErrorIs(t, up.Send(aCall(11, "m"), nil), link.ErrGone)
	}
	require.NoError(t, l.Close())
	serving.Wait()
	base(t, before)
}

// The same over HTTP and WebSocket.
func TestL15NothingLeftBehindOnTheWeb(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		hung := make(chan struct{})
		e := serveHTTP(t, false, func(s *stream, m *seen) {
			if s.r.Header.Get("Upgrade") != "" {
				ws, err := websocket.Accept(s.w, s.r, websocket.AcceptOptions{})
				if err == nil {
					_, _ = io.Copy(io.Discard, ws)
					_ = ws.Close()
				}
				return
			}
			select {
			case <-s.r.Context().Done():
			case <-hung:
				panic(http.ErrAbortHandler)
			}
		})
		defer e.Close()
		overHTTP, err := upstream.HTTP(client.HTTP{Endpoint: e.URL}, upstream.HTTPOptions{})
		require.NoError(t, err)
		overWS, err := upstream.WebSocket("ws"+e.URL[len("http"):], upstream.WebSocketOptions{})
		require.NoError(t, err)
		for n := range 40 {
			opener := overHTTP
			if n%2 == 1 {
				opener = overWS
			}
			o := newOwner()
			up, err := opener.Open(t.Context(), o, link.Key{})
			require.NoError(t, err)
			for k := range int64(10) {
				require.NoError(t, up.Send(aCall(k+1, "m"), nil))
			}
			up.Cancel(3, link.Cancel{})
			up.End(errors.New("enough"))
			<-o.over
			require.ErrorIs(t, up.Send(aCall(11, "m"), nil), link.ErrGone)
			require.Zero(t, o.failed.Load(), "they end with the way")
		}
		close(hung)
	}()
	base(t, before)
}

// Whoever is told that a link has gone may close it again, and others that close this
// one: each ends once, in the order Gone, Closed, Done.
func TestL17CloseFromClose(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, first := range []string{"left", "right", "peer", "both"} {
		t.Run(first, func(t *testing.T) {
			var links [2]*duplex.Link
			var gone, closed [2]atomic.Int64
			var far [2]net.Conn
			var closing sync.WaitGroup
			closing.Add(2)
			ready := make(chan struct{})
			for i := range links {
				near, other := net.Pipe()
				far[i] = other
				o := newOwner()
				end := func(err error) {
					<-ready
					for range 3 {
						links[i].End(err)
						links[1-i].End(err)
					}
				}
				o.onGone = func(err error) {
					require.Zero(t, closed[i].Load())
					gone[i].Add(1)
					end(err)
				}
				l, err := duplex.Over(near, duplex.Options{Closed: func(err error) {
					require.EqualValues(t, 1, gone[i].Load())
					end(err)
					if closed[i].Add(1) == 1 {
						closing.Done()
					}
				}}, func(*duplex.Link) link.Receiver { return o })
				require.NoError(t, err)
				links[i] = l
			}
			close(ready)
			switch first {
			case "left":
				links[0].End(errors.New("first"))
			case "right":
				links[1].End(errors.New("first"))
			case "peer":
				require.NoError(t, far[0].Close())
			case "both":
				go links[0].End(nil)
				go links[1].End(nil)
			}
			closing.Wait()
			for i, l := range links {
				<-l.Done()
				require.EqualValues(t, 1, gone[i].Load())
				require.EqualValues(t, 1, closed[i].Load())
				_ = far[i].Close()
			}
		})
	}
	base(t, before)
}
