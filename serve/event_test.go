package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// log keeps events as words.
type eventLog struct {
	mu    sync.Mutex
	lines []string
	all   []serve.Event
}

func (l *eventLog) observe(e serve.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
	words := []string{e.Kind.String()}
	for _, w := range []string{e.Method, e.Tool, e.Problem, e.Reason} {
		if w != "" {
			words = append(words, w)
		}
	}
	if e.Kind == serve.InvocationCompleted {
		words = append(words, e.Status.String())
	}
	l.lines = append(l.lines, strings.Join(words, " "))
}

func (l *eventLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &eventLog{}
		r := newRig(t, serve.Options{Observer: log.observe, Timeout: time.Second, Listener: "test"})
		defer r.conn.Close()
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			require.Equal(t, want, log.take())
		}
		r.send(call("1", "echo", `{}`))
		expect("request.admitted tools/call", "invocation.started tools/call echo", "invocation.completed tools/call echo succeeded", "exchange.closed tools/call echo")
		r.send(request("1", "server/discover", ""))
		expect("request.admitted server/discover", "exchange.closed server/discover")
		r.send(call("1", "ask", `{}`))
		expect("request.admitted tools/call", "invocation.started tools/call ask", "invocation.completed tools/call ask input_requested", "exchange.closed tools/call ask")
		r.send(call("1", "panic", `{}`))
		expect("request.admitted tools/call", "invocation.started tools/call panic", "invocation.crashed tools/call panic crashed", "exchange.closed tools/call panic crashed")
		r.send(call("1", "wait", `{}`))
		<-r.f.entered
		r.send(cancelled("1"))
		expect("request.admitted tools/call", "invocation.started tools/call wait", "invocation.cancelled tools/call wait", "exchange.closed tools/call wait cancelled", "exchange.closed notifications/cancelled")
		r.send(call("1", "wait", `{}`))
		pass(time.Second)
		expect("request.admitted tools/call", "invocation.started tools/call wait", "invocation.crashed tools/call wait timed_out", "exchange.closed tools/call wait timed_out")
		r.send(request("1", "resources/read", `"uri":"test://a"`))
		expect("request.admitted resources/read", "invocation.started resources/read", "invocation.completed resources/read succeeded", "exchange.closed resources/read")
		r.send(call("1", "no such tool", `{}`))
		expect("exchange.closed tools/call")
		for _, e := range log.all {
			require.Equal(t, "test", e.Listener)
			require.NotZero(t, e.Exchange)
			if e.Kind != serve.FrameRejected {
				require.NotEmpty(t, e.Correlation.String())
			}
		}
		require.True(t, strings.HasPrefix(serve.EventKind(99).String(), "EventKind("))
	})
}

// What happens before there is a message is told too.
func TestHTTPEvents(t *testing.T) {
	log := &eventLog{}
	o := serve.HTTPOptions{Verifier: "table", Authorize: func(r *http.Request) (mcp.Caller, error) {
		if r.Header.Get("Authorization") == "" {
			return mcp.Caller{}, errors.New("who is it")
		}
		return mcp.Caller{}, nil
	}}
	overHTTP(t, serve.Options{Observer: log.observe, MaxFrame: 1000}, o, func(w *web, _ *tools) {
		_ = w.tool("1", "echo", `{}`).all()
		require.Equal(t, []string{"authorization.decided denied", "http.rejected unauthorized"}, log.take())
		_ = w.do(http.MethodPost, "[1", "Authorization", "a", "Content-Type", "text/plain").all()
		require.Equal(t, []string{"authorization.decided allowed", "http.rejected content_type"}, log.take())
		_ = w.do(http.MethodPost, strings.Repeat("x", 2000), "Authorization", "a").all()
		require.Equal(t, []string{"authorization.decided allowed", "frame.rejected frame_too_large", "http.rejected too_large"}, log.take())
		var codes []int
		for _, e := range log.all {
			switch e.Kind {
			case serve.AuthorizationDecided:
				require.Equal(t, "table", e.Verifier)
			case serve.HTTPRejected:
				codes = append(codes, e.Code)
			}
		}
		require.Equal(t, []int{401, 415, 413}, codes)
	})
}

// How long a handler ran is told when it is over.
func TestEventDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &eventLog{}
		r := newRig(t, serve.Options{Observer: log.observe})
		defer r.conn.Close()
		reporting(r.s, func(context.Context, *mcp.Request) error { pass(3 * time.Second); return nil })
		x := r.send(call("1", "reporting", `{}`))
		pass(4 * time.Second)
		_ = r.only(x)
		for _, e := range log.all {
			if e.Kind == serve.InvocationCompleted {
				require.Equal(t, 3*time.Second, e.Duration)
				return
			}
		}
		t.Fatal("no completion was seen")
	})
}

// What an observer, a hook or a logger does wrong harms nobody.
func TestHooksThatPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{
			Observer: func(serve.Event) { panic("observer") },
			OnStray:  func(serve.Stray) { panic("hook") },
			Logger:   slog.New(panicking{}),
		})
		p := connect(t, s)
		p.send("rubbish", call("1", "panic", `{}`))
		require.Equal(t, -32603, parse(t, p.receive()).Error.Code)
		p.send(call("2", "echo", `{"text":"on"}`))
		require.Equal(t, "on", parse(t, p.receive()).text(t))
		require.NoError(t, p.hangUp())
	})
}

type panicking struct{ slog.Handler }

func (panicking) Enabled(context.Context, slog.Level) bool  { return true }
func (panicking) Handle(context.Context, slog.Record) error { panic("logger") }

// A handler's panic is in the log, with its stack, for the operator alone.
func TestPanicIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		s := newServer(t, newTools(), serve.Options{Listener: "unix", Logger: slog.New(slog.NewJSONHandler(&text, nil))})
		p := connect(t, s)
		p.send(call("1", "panic", `{}`))
		_ = p.receive()
		var line struct{ Msg, Level, Tool, Panic, Stack, Listener string }
		require.NoError(t, json.Unmarshal([]byte(text.String()), &line))
		require.Equal(t, "handler panicked", line.Msg)
		require.Equal(t, "ERROR", line.Level)
		require.Equal(t, "panic", line.Tool)
		require.Equal(t, "secret of the handler", line.Panic)
		require.Contains(t, line.Stack, "fixture_test.go")
		require.Equal(t, "unix", line.Listener)
		require.EqualValues(t, 1, s.Stats().Panics)
		require.NoError(t, p.hangUp())
	})
}
