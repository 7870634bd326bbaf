package serve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

func TestEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		for _, id := range []string{`1`, `"1"`, `0`, `""`, `-7`, `9007199254740993`, `123456789012345678901234567890`} {
			p.send(call(id, "echo", `{"text":"hé"}`))
			a := parse(t, p.receive())
			require.Equal(t, id, string(a.ID))
			require.Equal(t, "hé", a.text(t))
			require.Equal(t, "complete", a.Result.ResultType)
		}
		require.NoError(t, p.hangUp())
	})
}

// A handler that panics, or ends its goroutine, costs its own request alone, and
// what it panicked with stays here.
func TestCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		for i := range 20 {
			for _, tool := range []string{"panic", "goexit"} {
				p.send(call("1", tool, `{}`))
				line := p.receive()
				require.Equal(t, -32603, parse(t, line).Error.Code)
				require.NotContains(t, line, "secret")
			}
			p.send(call("2", "echo", fmt.Sprintf(`{"text":"%d"}`, i)))
			require.Equal(t, fmt.Sprint(i), parse(t, p.receive()).text(t))
		}
		require.NoError(t, p.hangUp())
	})
}

// The answer of a handler that takes too long goes out at once, before its grace
// is over.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		p := connect(t, newServer(t, f, serve.Options{Timeout: 3 * time.Second}))
		began := time.Now()
		p.send(call("1", "stuck", `{}`), call("2", "wait", `{}`))
		for range 2 {
			require.Equal(t, -32603, parse(t, p.receive()).Error.Code)
		}
		require.Equal(t, 3*time.Second, time.Since(began))
		cause := <-f.left
		require.ErrorIs(t, cause, context.DeadlineExceeded)
		// What it comes to later goes nowhere; its id is free.
		close(f.release)
		synctest.Wait()
		p.send(call("1", "echo", `{"text":"next"}`))
		require.Equal(t, "next", parse(t, p.receive()).text(t))
		require.NoError(t, p.hangUp())
	})
}

// X06: a cancelled request is not answered, ever.
func TestX06CancelWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		p := connect(t, newServer(t, f, serve.Options{}))
		p.send(call("5", "wait", `{}`))
		<-f.entered
		p.send(cancelled("5"))
		cause := <-f.left
		require.ErrorIs(t, cause, context.Canceled)
		_, ok := errors.AsType[*mcp.CancelledError](cause)
		require.True(t, ok)
		synctest.Wait()
		p.send(call("6", "echo", `{"text":"only this"}`))
		require.Equal(t, "6", string(parse(t, p.receive()).ID))
		require.NoError(t, p.hangUp())
	})
}

// X07: 0 and "" are ids; null and nothing are none.
func TestX07CancelOfZero(t *testing.T) {
	for _, id := range []string{`0`, `""`} {
		synctest.Test(t, func(t *testing.T) {
			f := newTools()
			s := newServer(t, f, serve.Options{})
			p := connect(t, s)
			p.send(call(id, "wait", `{}`))
			<-f.entered
			p.send(cancelled("null"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
			synctest.Wait()
			require.Empty(t, f.left)
			require.EqualValues(t, 3, s.Stats().Unmatched, "ignored, and counted")
			p.send(cancelled(id))
			require.ErrorIs(t, <-f.left, context.Canceled)
			require.EqualValues(t, 3, s.Stats().Unmatched)
			require.NoError(t, p.hangUp())
		})
	}
}

// B06: a slow call holds up neither another one nor its own cancel.
func TestB06SlowCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		p := connect(t, newServer(t, f, serve.Options{}))
		began := time.Now()
		p.send(call("1", "wait", `{}`), call("2", "echo", `{"text":"quick"}`), cancelled("1"))
		require.Equal(t, "quick", parse(t, p.receive()).text(t))
		synctest.Wait()
		require.Len(t, f.left, len(f.entered), "cancelled, if it was started at all")
		require.Zero(t, time.Since(began))
		require.NoError(t, p.hangUp())
	})
}

// X16: one call's cancel leaves the others alone.
func TestX16OneOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		p := connect(t, newServer(t, f, serve.Options{}))
		for i := range 100 {
			p.send(call(fmt.Sprint(i), "stuck", `{}`))
		}
		for range 100 {
			<-f.entered
		}
		p.send(cancelled("50"))
		synctest.Wait()
		close(f.release)
		seen := map[string]bool{}
		for range 99 {
			a := parse(t, p.receive())
			require.Equal(t, "released", a.text(t))
			seen[string(a.ID)] = true
		}
		require.Len(t, seen, 99)
		require.NotContains(t, seen, "50")
		require.NoError(t, p.hangUp())
	})
}

// What was asked before the peer closed its end is answered.
func TestDrainAtEOF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := newServer(t, f, serve.Options{})
		in := halfClosing{lines: strings.NewReader(call("1", "stuck", `{}`) + "\n" + call("2", "echo", `{"text":"a"}`) + "\n"), wrote: make(chan string, 8)}
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(context.Background(), in) }()
		require.Equal(t, "2", string(parse(t, <-in.wrote).ID))
		synctest.Wait()
		require.Empty(t, ended)
		close(f.release)
		require.Equal(t, "released", parse(t, <-in.wrote).text(t))
		require.NoError(t, <-ended)
	})
}

// A handler that does not come to an end keeps the process for the drain's time.
func TestDrainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := newServer(t, f, serve.Options{DrainTimeout: 2 * time.Second})
		in := halfClosing{lines: strings.NewReader(call("1", "wait", `{}`) + "\n"), wrote: make(chan string, 8)}
		began := time.Now()
		require.NoError(t, s.Serve(context.Background(), in))
		require.Equal(t, 2*time.Second, time.Since(began))
		require.ErrorIs(t, <-f.left, context.Canceled)
		require.Empty(t, in.wrote)
	})
}

// L10: a peer that is gone from the start ends the server at once.
func TestL10EOFAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		in := halfClosing{lines: strings.NewReader(""), wrote: make(chan string, 8)}
		require.NoError(t, newServer(t, newTools(), serve.Options{}).Serve(context.Background(), in))
		require.Zero(t, time.Since(began))
	})
}

// halfClosing is a stream whose reading side ends while its writing side goes on.
type halfClosing struct {
	lines *strings.Reader
	wrote chan string
}

func (h halfClosing) Read(p []byte) (int, error) { return h.lines.Read(p) }
func (h halfClosing) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		h.wrote <- line
	}
	return len(p), nil
}
func (h halfClosing) Close() error { return nil }
