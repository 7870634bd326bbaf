package conn_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/invariants"
)

// stressFull asks for what takes minutes.
var stressFull = os.Getenv("CORRELATOR_STRESS") == "full"

// rounds is how often a race is run: fewer where each round costs more, unless
// stressFull.
func rounds(n int) int {
	if stressFull {
		return n
	}
	if testing.Short() || invariants.Race {
		return n / 20
	}
	return n
}

func TestL01CloseRacesDelivery(t *testing.T) {
	for range rounds(100_000) {
		ours, theirs := newTape()
		c, err := conn.New(ours, conn.Options{CloseTimeout: -1})
		require.NoError(t, err)
		ends := make(chan conn.Outcome, 2)
		id, err := c.Start(background, "m", nil, conn.CallOptions{}, func(o conn.Outcome) { ends <- o })
		require.NoError(t, err)
		var wg sync.WaitGroup
		wg.Go(func() { require.NoError(t, c.Close()) })
		wg.Go(func() { theirs.say(resultFor([]byte(id.String()), "1")) })
		wg.Wait()
		<-c.Done()
		o := <-ends
		if o.Err != nil {
			require.ErrorIs(t, o.Err, conn.ErrClosed)
		}
		require.Empty(t, ends)
	}
}

func TestL03HandlerCallsThePeer(t *testing.T) {
	for _, notification := range []bool{true, false} {
		got := make(chan reply, 1)
		_, p := connect(t, conn.Options{MaxConcurrent: 1, Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
			result, err := r.Conn().Call(ctx, "x", nil, conn.CallOptions{})
			got <- reply{string(result), err}
			if !r.IsNotification() {
				_ = r.Reply(result)
			}
		})})
		line := `{"jsonrpc":"2.0","method":"N"}`
		if !notification {
			line = `{"jsonrpc":"2.0","id":1,"method":"N"}`
		}
		p.send(line)
		p.result(p.read(), `"at once"`)
		require.Equal(t, reply{`"at once"`, nil}, <-got)
		if !notification {
			require.Equal(t, `"at once"`, string(p.read().Result))
		}
	}
}

func TestL06SecondClose(t *testing.T) {
	var closed atomic.Int32
	var c *conn.Conn
	ours, _ := newTape()
	made := make(chan struct{})
	c, err := conn.New(ours, conn.Options{OnClose: func(err error) {
		<-made
		closed.Add(1)
		_ = c.Close()
		require.ErrorIs(t, err, conn.ErrClosed)
	}})
	require.NoError(t, err)
	close(made)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { require.NoError(t, c.Close()) })
	}
	wg.Wait()
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	<-c.Done()
	require.Eventually(t, func() bool { return closed.Load() == 1 }, time.Second, time.Millisecond)
	require.ErrorIs(t, c.Err(), conn.ErrClosed)
}

func TestL11DeadlineInMidWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		a := call(background, c, "A", `{"n":1}`, conn.CallOptions{Timeout: time.Second})
		begin := make([]byte, 10) // of the frame; then the peer stops reading
		_, err := io.ReadFull(p.link, begin)
		require.NoError(t, err)
		require.ErrorIs(t, (<-a).err, conn.ErrTimeout)

		b := call(background, c, "B", "", conn.CallOptions{})
		p.in = bufio.NewReader(io.MultiReader(strings.NewReader(string(begin)), p.link))
		m := p.read()
		require.Equal(t, "A", m.Method, "the frame was finished")
		require.JSONEq(t, `{"n":1}`, string(m.Params))
		for m = p.read(); m.Method == "notifications/cancelled"; m = p.read() {
		}
		require.Equal(t, "B", m.Method)
		p.result(m, "2")
		require.Equal(t, reply{"2", nil}, <-b)
	})
}

func TestL12WritersDoNotInterleave(t *testing.T) {
	const writers = 8
	each := rounds(1000)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	back, answers := io.Pipe()
	c, err := conn.New(joined{back, w}, conn.Options{WriteBuffer: 1 << 20})
	require.NoError(t, err)
	defer func() { _ = answers.Close(); _ = c.Close(); _ = r.Close() }()
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			pad := strings.Repeat("x", 5<<10+n*(59<<10)/(writers-1))
			for i := range each {
				params, _ := json.Marshal(map[string]any{"writer": n, "i": i, "pad": pad})
				switch i % 8 {
				case 3:
					id, err := c.Start(background, "started", params, conn.CallOptions{NoCancel: i%16 == 3}, nil)
					if !errors.Is(err, conn.ErrFull) {
						require.NoError(t, err)
						c.Cancel(id, nil)
					}
				case 5:
					_, _ = c.Start(background, "ping", nil, conn.CallOptions{}, nil)
				}
				require.NoError(t, c.Notify(background, "n", params))
			}
		})
	}
	go func() {
		wg.Wait()
		_ = c.Notify(background, "end", nil)
	}()
	var next [writers]int
	lines := bufio.NewReaderSize(r, 4<<10)
	for {
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		var m struct {
			Method string
			Params struct {
				Writer, I int
				Pad       string
			}
		}
		require.NoError(t, json.Unmarshal(line, &m))
		if m.Method == "end" {
			break
		}
		if m.Method == "n" {
			require.Equal(t, next[m.Params.Writer], m.Params.I)
			next[m.Params.Writer]++
		}
	}
	for _, n := range next {
		require.Equal(t, each, n)
	}
}

// joined is a stream of two halves.
type joined struct {
	io.ReadCloser
	w io.WriteCloser
}

func (j joined) Write(p []byte) (int, error) { return j.w.Write(p) }
func (j joined) Close() error                { return errors.Join(j.w.Close(), j.ReadCloser.Close()) }

func TestL14CloseToAPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		listen := call(background, c, "subscriptions/listen", `{}`, conn.CallOptions{
			Timeout: conn.NoTimeout, Subscription: func(conn.Notification) {},
		})
		m := p.read()
		stuck := call(background, c, "stuck", "", conn.CallOptions{})
		synctest.Wait()
		start := time.Now()
		var id codec.ID
		id, err := codec.ParseID(m.ID, codec.MCP)
		require.NoError(t, err)
		require.True(t, c.Cancel(id, nil)) // unsubscribe
		require.ErrorIs(t, (<-listen).err, conn.ErrCancelled)
		require.NoError(t, c.Close())
		require.LessOrEqual(t, time.Since(start), conn.DefaultCloseTimeout)
		require.ErrorIs(t, (<-stuck).err, conn.ErrClosed)
		<-c.Done()
	})
}

func TestL15NoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := range rounds(1000) {
		ours, theirs := newTape()
		c, err := conn.New(ours, conn.Options{Handler: echoes})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(background)
		var calls [10]<-chan reply
		for j := range calls {
			calls[j] = call(ctx, c, "m", "", conn.CallOptions{})
		}
		theirs.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		switch i % 3 {
		case 0:
			_ = theirs.Close()
		case 1:
			cancel()
		case 2:
			_ = c.Close()
		}
		for _, done := range calls {
			if i%3 == 1 {
				require.ErrorIs(t, (<-done).err, conn.ErrCancelled)
			} else {
				require.ErrorIs(t, (<-done).err, conn.ErrClosed)
			}
		}
		cancel()
		_ = c.Close()
		<-c.Done()
	}
	for deadline := time.Now().Add(time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		require.True(t, time.Now().Before(deadline), "%s", stacks())
	}
}

// The same over real sockets, whose end may be a reset, and with diallers that give up
// before anyone has accepted them.
func TestL15NoGoroutineIsLeftOverTCP(t *testing.T) {
	nothingLeft(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	for i := range rounds(1000) {
		accepted := make(chan net.Conn, 1)
		go func() {
			peer, err := listener.Accept()
			assert.NoError(t, err)
			accepted <- peer
		}()
		c, err := conn.Dial(background, "tcp", listener.Addr().String(), conn.Options{Handler: echoes})
		require.NoError(t, err)
		peer := <-accepted
		ctx, cancel := context.WithCancel(background)
		var calls [10]<-chan reply
		for j := range calls {
			calls[j] = call(ctx, c, "m", "", conn.CallOptions{})
		}
		asked := bufio.NewReader(peer)
		for range calls {
			_, err := asked.ReadString('\n')
			require.NoError(t, err)
		}
		want := conn.ErrClosed
		switch i % 3 {
		case 0:
			require.NoError(t, peer.(*net.TCPConn).SetLinger(0))
			_ = peer.Close() // a reset
		case 1:
			want = conn.ErrCancelled
			cancel()
		case 2:
			_ = c.Close()
		}
		for _, done := range calls {
			require.ErrorIs(t, (<-done).err, want)
		}
		cancel()
		_ = peer.Close()
		_ = c.Close()
		<-c.Done()
		_, err = conn.Dial(ctx, "tcp", listener.Addr().String(), conn.Options{})
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestL15GoroutinesOfAConnection(t *testing.T) {
	// Those of this bubble: a goroutine of the test before may just be leaving.
	own := func() (n int) {
		for _, stack := range strings.Split(stacks(), "\n\n") {
			header, _, _ := strings.Cut(stack, "\n")
			if strings.Contains(header, "synctest bubble") && strings.Contains(stack, "created by github.com/correlator-go/correlator/conn.") {
				n++
			}
		}
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		before := own()
		c, p := connect(t, conn.Options{Handler: echoes})
		require.Equal(t, before+2, own(), "a reader and a writer")
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","method":"m"}`)
		p.read()
		for range 100 {
			_, err := c.Start(background, "m", nil, conn.CallOptions{}, nil)
			require.NoError(t, err)
		}
		go p.answerAll()
		synctest.Wait()
		require.Equal(t, before+2, own(), "the handlers' are gone")
	})
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

func TestL17CloseWithinClose(t *testing.T) {
	// Three layers that close each other, as sessions and transports do.
	var c *conn.Conn
	var order []string
	ours, _ := newTape()
	stream := &closer{ReadWriteCloser: ours, also: func() {
		order = append(order, "stream")
		_ = c.Close()
	}}
	ended := make(chan struct{})
	c, err := conn.New(stream, conn.Options{OnClose: func(error) {
		order = append(order, "OnClose")
		_ = stream.Close()
		_ = c.Close()
		close(ended)
	}})
	require.NoError(t, err)
	settled := make(chan struct{})
	_, err = c.Start(background, "m", nil, conn.CallOptions{}, func(o conn.Outcome) {
		order = append(order, "call")
		require.ErrorIs(t, o.Err, conn.ErrClosed)
		_ = c.Close()
		close(settled)
	})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	<-settled
	<-ended
	require.Equal(t, []string{"stream", "call", "OnClose"}, order)
}

type closer struct {
	io.ReadWriteCloser
	once sync.Once
	also func()
}

func (c *closer) Close() error {
	c.once.Do(c.also)
	return c.ReadWriteCloser.Close()
}

func TestL18OversizeAnswer(t *testing.T) {
	seen := newStrays()
	c, p := connect(t, conn.Options{MaxFrame: 1 << 20, OnStray: seen.hook})
	var calls [10]<-chan reply
	var requests [10]message
	for i := range calls {
		calls[i] = call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
		requests[i] = p.read()
	}
	big := `"` + strings.Repeat("x", 2<<20) + `"`
	for i, m := range requests {
		if i == 3 {
			p.result(m, big)
		} else {
			p.result(m, "1")
		}
	}
	for i, done := range calls {
		r := <-done
		if i != 3 {
			require.Equal(t, reply{"1", nil}, r)
			continue
		}
		require.ErrorIs(t, r.err, codec.ErrFrameTooLarge)
		require.ErrorIs(t, r.err, conn.ErrInvalidAnswer)
	}
	x := <-seen.c
	require.Equal(t, conn.StrayTooLarge, x.Reason)
	require.Len(t, x.Frame, conn.StrayBytes)
	require.EqualValues(t, 1, c.Stats().TooLarge)
	requireWorks(t, c, p)
}

func TestL18OversizeFrameEndsAnUnsynchronisedStream(t *testing.T) {
	c, p := connect(t, conn.Options{MaxFrame: 64, Framer: codec.HeaderFramer{}})
	done := call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
	_, err := p.in.ReadString('}')
	require.NoError(t, err)
	_, err = io.WriteString(p.link, "Content-Length: 65\r\n\r\n")
	require.NoError(t, err)
	require.ErrorIs(t, (<-done).err, codec.ErrFrameTooLarge)
	<-c.Done()
}

func TestL20CallTimeoutIsNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		done := call(background, c, "slow", "", conn.CallOptions{Timeout: 50 * time.Millisecond})
		p.read()
		p.read()
		require.ErrorIs(t, (<-done).err, conn.ErrTimeout)
		require.NoError(t, c.Err())
		requireWorks(t, c, p)
	})
}
