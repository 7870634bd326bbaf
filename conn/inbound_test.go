package conn_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// handler makes a Handler of a function without a context.
func handler(f func(r *conn.Inbound)) conn.Handler {
	return conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) { f(r) })
}

func TestWithoutAHandlerRequestsAreRefused(t *testing.T) {
	c, p := connect(t, conn.Options{})
	p.send(`{"jsonrpc":"2.0","method":"note"}`, `{"jsonrpc":"2.0","id":"a","method":"m"}`, `{"jsonrpc":"2.0","id":"b","method":"ping"}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":"a","error":{"code":-32601}}`, withoutMessages(t, p.line()))
	require.Equal(t, `{"jsonrpc":"2.0","id":"b","result":{}}`, p.line())
	require.EqualValues(t, 2, c.Stats().Requests)
	require.EqualValues(t, 1, c.Stats().Notifications)
}

func TestPingGoesToTheHandlerIfAsked(t *testing.T) {
	_, p := connect(t, conn.Options{PassPing: true, Handler: handler(func(r *conn.Inbound) { _ = r.Reply([]byte(`"` + r.Method() + `"`)) })})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"ping"}`, p.line())
}

func TestHandlerSeesTheRequest(t *testing.T) {
	_, p := connect(t, conn.Options{Handler: handler(func(r *conn.Inbound) {
		require.Equal(t, "to\"ols", r.Method())
		require.Equal(t, `{"name":"x"}`, string(r.Params()))
		require.Equal(t, codec.StringID("007"), r.ID())
		require.False(t, r.IsNotification())
		require.Equal(t, `"x"`, string(r.Message().Name()))
		_ = r.ReplyError(&codec.Error{Code: -32602, Message: "no", Data: []byte(`[1]`)})
	})})
	p.send(`{"jsonrpc":"2.0","id":"0\u00307","method":"to\"ols","params":{"name":"x"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":"0\u00307","error":{"code":-32602,"message":"no","data":[1]}}`, p.line())
}

func TestRequestIsAnsweredOnce(t *testing.T) {
	_, p := connect(t, conn.Options{MaxFrameOut: 100, Handler: handler(func(r *conn.Inbound) {
		switch r.Method() {
		case "twice":
			require.NoError(t, r.Reply([]byte("1")))
			require.ErrorIs(t, r.Reply([]byte("2")), conn.ErrAnswered)
			require.ErrorIs(t, r.TryReplyError(&codec.Error{}), conn.ErrAnswered)
		case "never":
		case "large":
			require.ErrorIs(t, r.Reply(make([]byte, 101)), conn.ErrTooLarge)
		case "note":
			require.True(t, r.IsNotification())
			require.ErrorIs(t, r.Reply([]byte("1")), conn.ErrAnswered)
		}
	})})
	for i, method := range []string{"twice", "never", "large"} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, i, method))
		want := `{"jsonrpc":"2.0","id":0,"result":1}`
		if method != "twice" {
			want = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603}}`, i)
		}
		require.JSONEq(t, want, withoutMessages(t, p.line()))
	}
	p.send(`{"jsonrpc":"2.0","method":"note"}`, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	require.Equal(t, "9", string(p.read().ID))
}

func TestPanickingHandlerHarmsNobodyElse(t *testing.T) {
	for _, inline := range []bool{false, true} {
		panics := make(chan any, 2)
		c, p := connect(t, conn.Options{
			Inline: inline,
			OnPanic: func(v any, stack []byte) {
				require.Contains(t, string(stack), "inbound_test.go")
				panics <- v
			},
			Handler: handler(func(r *conn.Inbound) { panic("secret " + r.Method()) }),
		})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		line := p.line()
		require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603}}`, withoutMessages(t, line))
		require.NotContains(t, line, "secret")
		require.Equal(t, "secret m", <-panics)
		p.send(`{"jsonrpc":"2.0","method":"n"}`)
		require.Equal(t, "secret n", <-panics)
		requireWorks(t, c, p)
		require.EqualValues(t, 2, c.Stats().Panics)
	}
}

func TestDetachedRequestsAreAnsweredLater(t *testing.T) {
	for _, inline := range []bool{false, true} {
		later := make(chan *conn.Inbound, 8)
		c, p := connect(t, conn.Options{Inline: inline, MaxConcurrent: 1, MaxQueued: 2, Handler: handler(func(r *conn.Inbound) {
			r.Detach()
			later <- r
		})})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}`, `{"jsonrpc":"2.0","id":2,"method":"b","params":[2]}`)
		first, second := <-later, <-later
		require.Equal(t, `[1]`, string(first.Params()), "the frame lasts until the answer")
		require.Equal(t, `[2]`, string(second.Params()))
		p.send(`{"jsonrpc":"2.0","id":3,"method":"c"}`)
		third := <-later
		require.Equal(t, 3, c.Stats().InFlight)
		p.send(`{"jsonrpc":"2.0","id":4,"method":"d"}`)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":4,"error":{"code":-32603}}`, withoutMessages(t, p.line()))

		answered := make(chan error, 1)
		go func() { answered <- second.TryReply([]byte(`"B"`)) }()
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":"B"}`, p.line())
		require.NoError(t, <-answered)
		p.send(`{"jsonrpc":"2.0","id":5,"method":"e"}`)
		fifth := <-later
		for _, r := range []*conn.Inbound{first, third, fifth} {
			go func() { _ = r.Reply(nil) }()
			require.Equal(t, "null", string(p.read().Result))
		}
		// An answer is read before the goroutine that gave it has counted it.
		require.Eventually(t, func() bool { return c.Stats().InFlight == 0 }, 10*time.Second, time.Millisecond)
		require.EqualValues(t, 1, c.Stats().Overloaded)
	}
}

func TestDuplicateRequestInFlightIsDropped(t *testing.T) {
	seen := newStrays()
	release := make(chan struct{})
	c, p := connect(t, conn.Options{OnStray: seen.hook, Handler: handler(func(r *conn.Inbound) {
		<-release
		_ = r.Reply(r.Params())
	})})
	p.send(
		`{"jsonrpc":"2.0","id":1,"method":"m","params":["first"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":["second"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","method":"m"}`,
		`{"jsonrpc":"2.0","id":"1","method":"ping"}`,
	)
	require.Equal(t, `{"jsonrpc":"2.0","id":"1","result":{}}`, p.line(), `1 and "1" are two ids`)
	require.Equal(t, conn.StrayDuplicate, (<-seen.c).Reason)
	require.Equal(t, conn.StrayDuplicate, (<-seen.c).Reason)
	require.Equal(t, conn.StrayUnreadable, (<-seen.c).Reason)
	close(release)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":["first"]}`, p.line())
	require.EqualValues(t, 2, c.Stats().DuplicateRequests)

	p.send(`{"jsonrpc":"2.0","id":1,"method":"m","params":["again"]}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":["again"]}`, p.line(), "an answered id is free")
}

func TestIDIsFreeBeforeItsAnswerIsSeen(t *testing.T) {
	ours, theirs := newTape()
	c, err := conn.New(ours, conn.Options{Handler: echoes})
	require.NoError(t, err)
	defer c.Close()
	p := &peer{t: t, in: theirs.lines()}
	for i := range rounds(20_000) {
		theirs.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"m","params":[%d]}`, i))
		require.Equal(t, fmt.Sprintf(`[%d]`, i), string(p.read().Result))
	}
	require.Zero(t, c.Stats().DuplicateRequests)
}

func TestNotificationsKeepTheirOrder(t *testing.T) {
	const n = 1000
	var seen []string
	done := make(chan struct{})
	c, p := connect(t, conn.Options{MaxQueued: n, Handler: handler(func(r *conn.Inbound) {
		if !r.IsNotification() {
			<-done // requests in hand hold no notification up
			_ = r.Reply(nil)
			return
		}
		if seen = append(seen, string(r.Params())); len(seen) == n {
			close(done)
		}
	})})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":[%d]}`, i))
	}
	p.send(lines...)
	require.Equal(t, "1", string(p.read().ID))
	for i, params := range seen {
		require.Equal(t, fmt.Sprintf("[%d]", i), params)
	}
	require.Zero(t, c.Stats().Overloaded)
}

func TestNotificationsAboveTheQueueAreDropped(t *testing.T) {
	seen := newStrays()
	release := make(chan struct{})
	c, p := connect(t, conn.Options{MaxQueued: 2, OnStray: seen.hook, Handler: handler(func(*conn.Inbound) { <-release })})
	for range 5 {
		p.send(`{"jsonrpc":"2.0","method":"n"}`)
	}
	require.Equal(t, conn.StrayNotification, (<-seen.c).Reason)
	require.Equal(t, conn.StrayNotification, (<-seen.c).Reason)
	requireWorks(t, c, p)
	require.EqualValues(t, 2, c.Stats().Overloaded)
	close(release)
}

func TestHandlersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		_, p := connect(t, conn.Options{MaxConcurrent: 3, Handler: handler(func(r *conn.Inbound) {
			n := running.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			<-time.After(time.Second)
			running.Add(-1)
			_ = r.Reply(nil)
		})})
		start := time.Now()
		for i := range 9 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
		}
		for range 9 {
			p.read()
		}
		require.EqualValues(t, 3, most.Load())
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

func TestQueuedRequestIsCancelledUnserved(t *testing.T) {
	for _, profile := range []codec.Profile{codec.MCP, codec.LSP} {
		release := make(chan struct{})
		c, p := connect(t, conn.Options{Profile: profile, MaxConcurrent: 1, Handler: handler(func(r *conn.Inbound) {
			require.NotEqual(t, "queued", r.Method())
			<-release
			_ = r.Reply(nil)
		})})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"running"}`, `{"jsonrpc":"2.0","id":2,"method":"queued"}`)
		if profile == codec.LSP {
			p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`)
			require.Equal(t, codec.CodeRequestCancelled, p.read().Error.Code)
		} else {
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		}
		requireWorks(t, c, p)
		close(release)
		require.Equal(t, "1", string(p.read().ID))
		p.send(`{"jsonrpc":"2.0","id":3,"method":"running"}`)
		require.Equal(t, "3", string(p.read().ID))
		for c.Stats().InFlight > 0 { // its answer is out; the handler is about to return
			runtime.Gosched()
		}
	}
}

func TestRequestContext(t *testing.T) {
	contexts := make(chan context.Context, 8)
	c, p := connect(t, conn.Options{Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
		require.NoError(t, ctx.Err())
		require.Nil(t, ctx.Value("key"))
		_, hasDeadline := ctx.Deadline()
		require.False(t, hasDeadline)
		contexts <- ctx
		r.Detach()
	})})
	// A context derived from it, and a function on its end, follow a cancel.
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	ctx := <-contexts
	derived, stop := context.WithTimeout(ctx, time.Hour)
	defer stop()
	ran := make(chan struct{})
	context.AfterFunc(ctx, func() { close(ran) })
	require.True(t, context.AfterFunc(ctx, func() { t.Error("stopped") })())
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-derived.Done()
	<-ran
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	late := make(chan struct{})
	context.AfterFunc(ctx, func() { close(late) })
	<-late

	// So they do when the connection ends, whoever asked for Done when.
	p.send(`{"jsonrpc":"2.0","id":2,"method":"m"}`, `{"jsonrpc":"2.0","id":3,"method":"m"}`)
	before, after := <-contexts, <-contexts
	done := before.Done()
	require.NoError(t, c.Close())
	<-c.Done()
	<-done
	<-after.Done()
	require.ErrorIs(t, after.Err(), context.Canceled)
}

func TestContextEndsWithTheAnswer(t *testing.T) {
	contexts := make(chan context.Context, 1)
	_, p := connect(t, conn.Options{Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
		contexts <- ctx
		_ = r.Reply(nil)
	})})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.read()
	<-(<-contexts).Done()
}

func TestUnreadableFramesAreAnsweredIfAsked(t *testing.T) {
	for _, profile := range []codec.Profile{codec.MCP, codec.JSONRPC} {
		c, p := connect(t, conn.Options{Profile: profile, AnswerUnreadable: true, MaxFrame: 200})
		id := ""
		if profile == codec.JSONRPC {
			id = `"id":null,`
		}
		for line, code := range map[string]int{
			`{`:                              codec.CodeParse,
			`7`:                              codec.CodeInvalidRequest,
			`[1]`:                            codec.CodeInvalidRequest, // batches are refused
			`{"jsonrpc":"1.0","method":"m"}`: codec.CodeInvalidRequest,
			`{"x":"` + strings.Repeat("y", 300) + `"}`:    codec.CodeInvalidRequest,
			`{"jsonrpc":"2.0","id":true,"method":"m"}`:    codec.CodeInvalidRequest,
			`{"jsonrpc":"2.0","id":{"a":1},"method":"m"}`: codec.CodeInvalidRequest,
		} {
			p.send(line)
			require.JSONEq(t, fmt.Sprintf(`{"jsonrpc":"2.0",%s"error":{"code":%d}}`, id, code), withoutMessages(t, p.line()), line)
		}
		requireWorks(t, c, p)
	}
}

func TestBadRequestIsRefusedByItsName(t *testing.T) {
	c, p := connect(t, conn.Options{MaxFrame: 200})
	p.send(`{"jsonrpc":"2.0","id":7,"method":"m","method":"m"}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600}}`, withoutMessages(t, p.line()))
	p.send(`{"jsonrpc":"2.0","id":8,"method":"m","params":"` + strings.Repeat("y", 300) + `"}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":8,"error":{"code":-32600}}`, withoutMessages(t, p.line()))
	p.send(`{"jsonrpc":"2.0","id":1.5,"method":"m"}`)
	requireWorks(t, c, p)
}

func TestRepliesToAPeerThatDoesNotReadAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := make(chan *conn.Inbound, 1)
		c, p := connect(t, conn.Options{WriteBuffer: 1000, Handler: handler(func(r *conn.Inbound) {
			r.Detach()
			later <- r
		})})
		p.send(`{"jsonrpc":"2.0","id":"kept","method":"m"}`)
		r := <-later
		for range 100 {
			p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		}
		require.LessOrEqual(t, c.Stats().QueuedBytes, int64(2000))
		require.Positive(t, c.Stats().AnswersDropped)
		require.ErrorIs(t, r.TryReply([]byte("1")), conn.ErrFull)
		done := make(chan error, 1)
		go func() { done <- r.Reply([]byte("1")) }() // waits
		synctest.Wait()
		require.Empty(t, done)
		require.NoError(t, p.link.Close())
		require.True(t, errors.Is(<-done, conn.ErrClosed))
	})
}
