package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// A handler sees when its time is up, and what it derives from its context ends
// with it.
func TestHandlerContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		base := context.WithValue(context.Background(), key{}, "value")
		s := newServer(t, newTools(), serve.Options{Timeout: 7 * time.Second})
		seen := make(chan error, 1)
		s.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Handle: func(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) {
				until, ok := ctx.Deadline()
				if !ok || time.Until(until) != 7*time.Second || ctx.Value(key{}) != "value" {
					seen <- fmt.Errorf("deadline %v %v, value %v", until, ok, ctx.Value(key{}))
					return nil, nil
				}
				derived, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				<-derived.Done()
				seen <- errors.Join(derived.Err(), context.Cause(derived))
				return nil, nil
			}})
		ours, theirs := net.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.ServeAs(base, ours, mcp.Caller{Principal: "ada"}) }()
		_, err := fmt.Fprintln(theirs, call("1", "look", `{}`))
		require.NoError(t, err)
		cause := <-seen
		require.ErrorIs(t, cause, context.DeadlineExceeded)
		timeout, ok := errors.AsType[interface {
			error
			Timeout() bool
		}](cause)
		require.True(t, ok)
		require.True(t, timeout.Timeout())
		require.NotEmpty(t, timeout.Error())
		_ = theirs.Close()
		<-ended
	})
}

func TestCloseExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{})
		defer r.conn.Close()
		x := r.send(call("1", "wait", `{}`))
		<-r.f.entered
		r.conn.CloseExchange(x)
		require.ErrorIs(t, <-r.f.left, context.Canceled)
		synctest.Wait()
		require.Empty(t, r.out.of(x))
		require.Equal(t, 1, r.out.closes(x))
		r.conn.CloseExchange(x)
		r.conn.CloseExchange(mcp.NewExchangeID())
		require.Zero(t, r.conn.Live())
	})
}

// Whoever sends to a connection whose sink takes nothing waits in the end, and is
// let go when it takes something or is closed.
func TestSinkBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{WriteBuffer: 1000})
		block := r.out.hold()
		sent := make(chan error, 1000)
		go func() {
			for i := range 200 {
				sent <- r.conn.Send(mcp.NewExchangeID(), []byte(request(fmt.Sprint(i), "server/discover", "")), "")
			}
			close(sent)
		}()
		synctest.Wait()
		require.Less(t, len(sent), 20)
		require.LessOrEqual(t, r.s.Stats().Waiting, int64(3000))
		close(block)
		n := 0
		for err := range sent {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 200, n)

		block = r.out.hold()
		last := make(chan error, 1)
		go func() {
			for {
				if err := r.conn.Send(mcp.NewExchangeID(), []byte(request("1", "server/discover", "")), ""); err != nil {
					last <- err
					return
				}
			}
		}()
		synctest.Wait()
		r.conn.Close()
		require.ErrorIs(t, <-last, serve.ErrStopped)
		close(block)
	})
}

// The reducer's limits are set here as well.
func TestReducersLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{State: mcp.Options{MaxWatched: 1}})
		defer r.conn.Close()
		x := r.send(request("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://a","test://b"]}`))
		require.NotNil(t, parse(t, r.only(x)).Error)
	})
}

// DrainTimeout may say not to wait.
func TestNoDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := newServer(t, f, serve.Options{DrainTimeout: -1})
		p := connect(t, s)
		p.send(call("1", "wait", `{}`))
		<-f.entered
		began := time.Now()
		require.NoError(t, s.Shutdown(context.Background()))
		require.Zero(t, time.Since(began))
		require.ErrorIs(t, <-f.left, context.Canceled)
		require.ErrorIs(t, <-p.ended, serve.ErrStopped)
		_ = p.conn.Close()
	})
}

// Arguments that are mirrored into headers are compared with them.
func TestHTTPParamHeaders(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		w.server.RegisterTool(mcp.ServerTool{
			Tool:   mcp.Tool{Name: "sql", InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)},
			Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return mcp.ToolText("ok"), nil },
		})
		for header, status := range map[string]int{"us-west1": 200, "eu": 400, "": 400, "=?base64?dXMtd2VzdDE=?=": 200} {
			r := w.do(http.MethodPost, call("1", "sql", `{"region":"us-west1"}`), modern("tools/call", "sql", "Mcp-Param-Region", header)...)
			require.Equal(t, status, r.StatusCode, header)
			_ = r.all()
		}
		r := w.do(http.MethodPost, call("1", "sql", `{}`), modern("tools/call", "sql")...)
		require.Equal(t, 200, r.StatusCode)
		_ = r.all()
	})
}

// A handler that needs what the client did not declare gets the status that MCP
// names for it; any other failure of a handler is none of the transport.
func TestHTTPMissingCapability(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		for name, err := range map[string]error{
			"elicits": &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"name": mcp.Elicit(mcp.ElicitParams{Message: "Who?"})}},
			"fails":   &codec.Error{Code: -32602, Message: "no"},
		} {
			w.server.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: name},
				Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return nil, err }})
		}
		r := w.tool("1", "elicits", `{}`)
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		require.Equal(t, -32021, parse(t, r.all()).Error.Code)
		r = w.tool("2", "fails", `{}`)
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Equal(t, -32602, parse(t, r.all()).Error.Code)
	})
}

// The end of whoever opened a connection is its own.
func TestOwnerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, out := newTools(), newMemory()
		s := newServer(t, f, serve.Options{})
		ctx, cancel := context.WithCancel(context.Background())
		c, err := s.Connect(ctx, mcp.Caller{}, out)
		require.NoError(t, err)
		x := mcp.NewExchangeID()
		require.NoError(t, c.Send(x, []byte(call("1", "wait", `{}`)), ""))
		<-f.entered
		cancel()
		require.ErrorIs(t, <-f.left, context.Canceled)
		synctest.Wait()
		require.Empty(t, out.of(x))
		require.ErrorIs(t, c.Send(mcp.NewExchangeID(), []byte(call("2", "echo", `{}`)), ""), serve.ErrStopped)
		require.Zero(t, s.Stats().Open)
	})
}

// A server that is closed leaves no HTTP request hanging.
func TestHTTPClose(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{KeepAlive: -1}, func(w *web, f *tools) {
		answers := make(chan *response, 2)
		go func() { answers <- w.tool("1", "wait", `{}`) }()
		h := w.begin("2025-11-25")
		listening := w.do(http.MethodGet, "", h...)
		go func() { answers <- w.do(http.MethodPost, old("1", "wait", `{}`, ""), h...) }()
		<-f.entered
		<-f.entered
		w.server.Close()
		for range 2 {
			r := <-answers
			if r.kind() == "application/json" {
				require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
				require.Equal(t, "1", string(parse(t, r.all()).ID))
			} else {
				_, _ = r.next() // the priming event
				_, more := r.next()
				require.False(t, more)
			}
		}
		_, _ = listening.next()
		_, more := listening.next()
		require.False(t, more)
		r := w.do(http.MethodPost, fmt.Sprintf(hello, "2025-11-25"))
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		_ = r.all()
	})
}

// When every session is busy there is no room for another.
func TestSessionsAllBusy(t *testing.T) {
	overHTTP(t, serve.Options{MaxConnections: 1}, serve.HTTPOptions{}, func(w *web, f *tools) {
		h := w.begin("2025-11-25")
		busy := make(chan string)
		go func() { busy <- w.do(http.MethodPost, old("1", "stuck", `{}`, ""), h...).all() }()
		<-f.entered
		r := w.do(http.MethodPost, fmt.Sprintf(hello, "2025-11-25"))
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		require.Empty(t, r.Header.Get("Mcp-Session-Id"))
		_ = r.all()
		close(f.release)
		require.Equal(t, "released", parse(t, <-busy).text(t))
	})
}

// Answers that nobody reads count like requests that live.
func TestSessionUnreadAnswers(t *testing.T) {
	overHTTP(t, serve.Options{MaxLive: 3, WriteTimeout: -1}, serve.HTTPOptions{}, func(w *web, f *tools) {
		h := w.begin("2025-11-25")
		big := strings.Repeat("x", 200_000)
		var unread []*response
		for i := range 3 {
			unread = append(unread, w.do(http.MethodPost, old(fmt.Sprint(i), "echo", fmt.Sprintf(`{"text":%q}`, big), ""), h...))
		}
		synctest.Wait()
		require.Zero(t, w.server.Stats().Live, "all of them are answered, none is read")
		r := w.do(http.MethodPost, old("9", "echo", `{}`, ""), h...)
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		_ = r.all()
		for _, r := range unread {
			require.Equal(t, big, parse(t, r.all()).text(t))
		}
		synctest.Wait()
		r = w.do(http.MethodPost, old("9", "echo", `{}`, ""), h...)
		require.Equal(t, http.StatusOK, r.StatusCode)
		_ = r.all()
	})
}

func TestErrorsSayWhat(t *testing.T) {
	for err, want := range map[error]string{
		&serve.LimitError{Err: serve.ErrTooManyLive, Have: 5, Limit: 5}: "too many live exchanges: 5, the limit is 5",
		&serve.LimitError{Err: serve.ErrFrameTooDeep, Limit: 64}:        "nested too deep: the limit is 64",
		&serve.HTTPError{Status: 403, Text: "no"}:                       "Forbidden: no",
		&serve.OptionError{Field: "MaxLive", Value: -1}:                 "MaxLive must not be -1",
	} {
		require.Contains(t, err.Error(), want)
	}
	for reason, want := range map[serve.StrayReason]string{
		serve.StrayUnreadable: "unreadable", serve.StrayTooLarge: "too large", serve.StrayTooDeep: "too deep", serve.StrayTrailing: "cut short",
		serve.StrayDuplicate: "duplicate request id", serve.StrayLate: "unmatched answer", serve.StrayUnsupported: "batch", 99: "StrayReason(99)",
	} {
		require.Equal(t, want, reason.String())
	}
	require.ErrorIs(t, &serve.LimitError{Err: serve.ErrFrameTooLarge}, serve.ErrFrameTooLarge)
	require.NotErrorIs(t, io.EOF, serve.ErrStopped)
}
