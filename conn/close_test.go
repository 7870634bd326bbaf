package conn_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

func TestCloseLetsTheQueueOutAndTakesTheAnswersOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		first := call(background, c, "first", "", conn.CallOptions{})
		synctest.Wait()
		second := call(background, c, "second", "", conn.CallOptions{})
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- c.Close() }()
		synctest.Wait()
		_, err := c.Call(background, "late", nil, conn.CallOptions{})
		require.ErrorIs(t, err, conn.ErrClosed)

		a, b := p.read(), p.read()
		<-time.After(10 * time.Millisecond)
		p.result(a, "1")
		<-time.After(15 * time.Millisecond) // each within the quiet time of the other
		p.result(b, "2")
		require.Equal(t, reply{"1", nil}, <-first)
		require.Equal(t, reply{"2", nil}, <-second)
		require.NoError(t, <-closed)
		require.ErrorIs(t, c.Err(), conn.ErrClosed)
	})
}

func TestCloseDoesNotWaitForAnAnswerThatNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		done := call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
		p.read()
		start := time.Now()
		require.NoError(t, c.Close())
		require.LessOrEqual(t, time.Since(start), 50*time.Millisecond)
		err := (<-done).err
		require.ErrorIs(t, err, conn.ErrClosed)
		sent, known := conn.Sent(err)
		require.True(t, sent && known)
		<-c.Done()
	})
}

func TestEOFLetsAnswersOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The peer closes its side after its requests, as a shell pipe does, and
		// reads on.
		in, ask := io.Pipe()
		answers, out := io.Pipe()
		c, err := conn.New(joined{in, out}, conn.Options{Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
			<-time.After(100 * time.Millisecond)
			_ = r.Reply(r.Params())
		})})
		require.NoError(t, err)
		pending := call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
		p := &peer{t: t, in: bufio.NewReader(answers)}
		p.read()
		_, err = io.WriteString(ask, `{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`+"\n")
		require.NoError(t, err)
		require.NoError(t, ask.Close())
		start := time.Now()
		require.ErrorIs(t, (<-pending).err, io.EOF)
		require.Zero(t, time.Since(start), "our own calls fail at once")
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":[1]}`, p.line())
		<-c.Done()
	})
}

func TestEOFWaitsForNoHandlerForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) { <-ctx.Done() })})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		synctest.Wait()
		start := time.Now()
		require.NoError(t, p.link.Close())
		<-c.Done()
		require.LessOrEqual(t, time.Since(start), conn.DefaultCloseTimeout)
	})
}

// broken is a stream whose writes fail while its reads go on.
type broken struct {
	io.ReadWriteCloser
	err error
}

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestFailedWriteEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("pipe burst")
		ours, theirs := newTape()
		c, err := conn.New(broken{ours, cause}, conn.Options{})
		require.NoError(t, err)
		start := time.Now()
		_, err = c.Call(background, "m", nil, conn.CallOptions{Timeout: conn.NoTimeout})
		require.ErrorIs(t, err, conn.ErrClosed)
		require.ErrorIs(t, err, cause)
		require.LessOrEqual(t, time.Since(start), conn.DefaultCloseTimeout)
		<-c.Done()
		require.ErrorIs(t, c.Err(), cause)
		_ = theirs.Close()
	})
}

func TestFailedWriteIsExplainedByTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The peer answered the first call and died: its answer counts, and that it
		// is gone says more than the write that failed.
		cause := errors.New("broken pipe")
		ours, theirs := newTape()
		gate := &gated{ReadWriteCloser: ours, err: cause}
		c, err := conn.New(gate, conn.Options{})
		require.NoError(t, err)
		first := call(background, c, "first", "", conn.CallOptions{})
		p := &peer{t: t, in: theirs.lines()}
		m := p.read()
		gate.fail()
		second := call(background, c, "second", "", conn.CallOptions{})
		synctest.Wait()
		theirs.say(resultFor(m.ID, "1"))
		_ = theirs.Close()
		require.Equal(t, reply{"1", nil}, <-first)
		err = (<-second).err
		require.ErrorIs(t, err, io.EOF)
		_, gone := errors.AsType[*conn.PeerGone](err)
		require.True(t, gone)
		<-c.Done()
	})
}

// gated fails its writes from a moment on.
type gated struct {
	io.ReadWriteCloser
	mu     sync.Mutex
	failed bool
	err    error
}

func (g *gated) fail() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = true
}

func (g *gated) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed {
		return 0, g.err
	}
	return g.ReadWriteCloser.Write(p)
}

func TestDrainWaitsForBothDirections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c, p := connect(t, conn.Options{Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
			<-release
			_ = r.Reply(r.Params())
		})})
		pending := call(background, c, "m", "", conn.CallOptions{})
		m := p.read()
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`)
		synctest.Wait()
		drained := make(chan error, 1)
		go func() { drained <- c.Drain(background) }()
		synctest.Wait()

		_, err := c.Call(background, "new", nil, conn.CallOptions{})
		require.ErrorIs(t, err, conn.ErrDraining)
		sent, known := conn.Sent(err)
		require.True(t, known && !sent)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
		require.Equal(t, "2", string(p.read().ID), "a new request is refused")
		p.result(m, "1")
		require.Equal(t, reply{"1", nil}, <-pending)
		synctest.Wait()
		require.Empty(t, drained)
		close(release)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":[1]}`, p.line())
		require.NoError(t, <-drained)
		<-c.Done()
		require.ErrorIs(t, c.Err(), conn.ErrClosed)
	})
}

func TestDrainIsBoundedByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		pending := call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
		p.read()
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, c.Drain(ctx), context.DeadlineExceeded)
		require.Less(t, time.Since(start), 1100*time.Millisecond)
		require.ErrorIs(t, (<-pending).err, conn.ErrClosed)
	})
}

func TestCloseInsideCallbacks(t *testing.T) {
	for name, with := range map[string]func(close func()) (conn.Options, conn.CallOptions, func(conn.Outcome)){
		"notify": func(end func()) (conn.Options, conn.CallOptions, func(conn.Outcome)) {
			return conn.Options{}, conn.CallOptions{}, func(conn.Outcome) { end() }
		},
		"progress": func(end func()) (conn.Options, conn.CallOptions, func(conn.Outcome)) {
			return conn.Options{}, conn.CallOptions{Progress: func(conn.Progress) { end() }}, nil
		},
		"observer": func(end func()) (conn.Options, conn.CallOptions, func(conn.Outcome)) {
			return conn.Options{Observer: func(engine.Settlement) { end() }}, conn.CallOptions{}, nil
		},
		"stray": func(end func()) (conn.Options, conn.CallOptions, func(conn.Outcome)) {
			return conn.Options{OnStray: func(conn.Stray) { end() }}, conn.CallOptions{}, nil
		},
		"handler": func(end func()) (conn.Options, conn.CallOptions, func(conn.Outcome)) {
			return conn.Options{Handler: handler(func(*conn.Inbound) { end() })}, conn.CallOptions{}, nil
		},
		"inline handler": func(end func()) (conn.Options, conn.CallOptions, func(conn.Outcome)) {
			return conn.Options{Inline: true, Handler: handler(func(*conn.Inbound) { end() })}, conn.CallOptions{}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c *conn.Conn
				closed := make(chan struct{}, 16)
				o, co, notify := with(func() {
					_ = c.Close()
					closed <- struct{}{}
				})
				ours, theirs := net.Pipe()
				c, err := conn.New(ours, o)
				require.NoError(t, err)
				p := &peer{t: t, link: theirs, in: bufio.NewReader(theirs)}
				_, err = c.Start(background, "m", nil, co, notify)
				require.NoError(t, err)
				m := p.read()
				go func() { // the link may end in the middle of it
					_, _ = io.WriteString(theirs, progressFor(m.ID, 1)+"\nbanner\n"+
						`{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n"+resultFor(m.ID, "1")+"\n")
				}()
				go func() { _, _ = io.Copy(io.Discard, p.in) }()
				<-closed
				<-c.Done()
				require.ErrorIs(t, c.Err(), conn.ErrClosed)
				_ = theirs.Close()
			})
		})
	}
}

func TestPanickingCallbacksHarmNobodyElse(t *testing.T) {
	panics := make(chan any, 16)
	bad := func() { panic("bad hook") }
	c, p := connect(t, conn.Options{
		OnPanic:  func(v any, _ []byte) { panics <- v },
		OnStray:  func(conn.Stray) { bad() },
		OnClose:  func(error) { bad() },
		Observer: func(engine.Settlement) { bad() },
	})
	_, err := c.Start(background, "m", nil, conn.CallOptions{Progress: func(conn.Progress) { bad() }}, func(conn.Outcome) { bad() })
	require.NoError(t, err)
	m := p.read()
	p.send("banner", progressFor(m.ID, 1))
	<-panics // OnStray
	<-panics // Progress
	p.result(m, "1")
	<-panics // Observer, notify
	<-panics
	done := call(background, c, "m", "", conn.CallOptions{Progress: func(conn.Progress) { bad() }})
	m = p.read()
	p.send(progressFor(m.ID, 1), resultFor(m.ID, "1"))
	require.NoError(t, (<-done).err)
	requireWorks(t, c, p)
	require.NoError(t, c.Close())
	<-c.Done()
	s := c.Stats()
	require.EqualValues(t, 4, s.Panics, "OnStray, two of Progress, OnClose")
	require.EqualValues(t, 4, s.Calls.Panics, "notify, and the observer of three calls")
}

func TestCallbacksMayReenter(t *testing.T) {
	ours, theirs := newTape()
	c, err := conn.New(ours, conn.Options{})
	require.NoError(t, err)
	defer c.Close()
	go answerLines(theirs)
	const depth = 2000
	done := make(chan struct{})
	left := depth
	var again func(conn.Outcome)
	again = func(o conn.Outcome) {
		require.NoError(t, o.Err)
		if left--; left <= 0 {
			close(done)
			return
		}
		switch left % 3 {
		case 0:
			_, err := c.Start(background, "m", nil, conn.CallOptions{}, again)
			require.NoError(t, err)
		case 1:
			n, err := c.Submit(background, []conn.Request{{Method: "m", Notify: again}, {Method: "other"}})
			require.NoError(t, err)
			require.Equal(t, 2, n)
		case 2:
			id, err := c.Start(background, "m", nil, conn.CallOptions{}, func(o conn.Outcome) {
				require.ErrorIs(t, o.Err, conn.ErrCancelled)
				again(conn.Outcome{})
			})
			require.NoError(t, err)
			require.NoError(t, c.TryNotify("n", nil))
			require.True(t, c.Cancel(id, nil))
		}
	}
	again(conn.Outcome{})
	<-done
}

func TestErrorOfACallThatComesTooLate(t *testing.T) {
	c, _ := connect(t, conn.Options{})
	ended, cancel := context.WithCancel(background)
	cancel()
	_, err := c.Call(ended, "add", nil, conn.CallOptions{})
	require.EqualError(t, err, "engine: call of add was never registered, it was cancelled: context canceled")
	require.NoError(t, c.Close())
	<-c.Done()
	_, err = c.Call(background, "add", nil, conn.CallOptions{})
	require.EqualError(t, err, "engine: call of add was never registered: engine: closed")
	_, err = c.Start(background, "add", nil, conn.CallOptions{}, nil)
	require.ErrorIs(t, err, conn.ErrClosed)
	require.ErrorContains(t, c.Notify(background, "add", nil), "never")
}

// What a peer never read is nothing that waits any more when the connection has
// ended.
func TestClosedConnectionHasNothingQueued(t *testing.T) {
	ours, theirs := net.Pipe() // nobody reads theirs
	defer theirs.Close()
	c, err := conn.New(ours, conn.Options{CloseTimeout: time.Millisecond})
	require.NoError(t, err)
	for range 100 {
		require.NoError(t, c.TryNotify("notifications/own", []byte(`{}`)))
	}
	require.Positive(t, c.Stats().QueuedBytes)
	require.NoError(t, c.Close())
	<-c.Done()
	require.Zero(t, c.Stats().QueuedBytes)
}
