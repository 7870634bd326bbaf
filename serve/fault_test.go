package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// X03: every method that a handler answers can be cancelled alike.
func TestX03EveryMethodIsCancelled(t *testing.T) {
	for method, params := range map[string]string{
		"tools/call":          `"name":"t"`,
		"prompts/get":         `"name":"p"`,
		"resources/read":      `"uri":"test://r"`,
		"completion/complete": `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			entered, left := make(chan struct{}, 1), make(chan error, 1)
			wait := func(ctx context.Context) error {
				entered <- struct{}{}
				<-ctx.Done()
				left <- context.Cause(ctx)
				return ctx.Err()
			}
			d, err := mcp.NewServer(mcp.Description{
				Info: mcp.Implementation{Name: "x", Version: "1"},
				Tools: []mcp.ServerTool{{Tool: mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
					Handle: func(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) { return nil, wait(ctx) }}},
				Prompts: []mcp.ServerPrompt{{Prompt: mcp.Prompt{Name: "p"},
					Handle: func(ctx context.Context, _ *mcp.Request) (*mcp.PromptResult, error) { return nil, wait(ctx) }}},
				Resources: []mcp.ServerResource{{Resource: mcp.Resource{URI: "test://r", Name: "r"},
					Handle: func(ctx context.Context, _ *mcp.Request) (*mcp.ReadResult, error) { return nil, wait(ctx) }}},
				Complete: func(ctx context.Context, _ *mcp.Request, _ mcp.Completion) (*mcp.CompletionResult, error) {
					return nil, wait(ctx)
				},
			})
			require.NoError(t, err)
			s, err := serve.New(d, serve.Options{})
			require.NoError(t, err)
			p := connect(t, s)
			p.send(request("1", method, params))
			select {
			case <-entered:
			case <-time.After(time.Second):
				t.Fatalf("%s was not started", method)
			}
			p.send(cancelled("1"))
			require.ErrorIs(t, <-left, context.Canceled, method)
			p.send(request("2", "server/discover", ""))
			require.Equal(t, "2", string(parse(t, p.receive()).ID), method)
			require.NoError(t, p.hangUp())
		})
	}
}

// A cancelled subscription ends without a result.
func TestX03ListenIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{})
		p := connect(t, s)
		p.send(request(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		require.Contains(t, p.receive(), "acknowledged")
		p.send(cancelled(`"l"`), request("2", "server/discover", ""))
		require.Equal(t, "2", string(parse(t, p.receive()).ID))
		s.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		synctest.Wait()
		require.Zero(t, s.Stats().Live)
		require.NoError(t, p.hangUp())
	})
}

// X11: progress comes before the answer, and none after it, for many at once.
func TestX11ProgressBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		const calls, reports = 12, 3
		for i := range calls {
			p.send(call(fmt.Sprint(i), "progress", `{"n":3}`, fmt.Sprintf(`"progressToken":%d`, i)))
		}
		seen := map[string]int{}
		for range calls * (reports + 1) {
			line := p.receive()
			a := parse(t, line)
			if a.Result != nil {
				require.Equal(t, reports, seen[string(a.ID)])
				seen[string(a.ID)] = -1
				continue
			}
			token := string(a.Params.Token)
			require.NotEqual(t, -1, seen[token], "after the answer")
			seen[token]++
			require.EqualValues(t, seen[token], a.Params.Progress)
			require.NotContains(t, line, `"id"`, "R14: a notification has no id")
		}
		require.NoError(t, p.hangUp())
	})
}

// C29: a stream that ends inside a frame is told from one that ends, and what was
// asked before is answered.
func TestC29CutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &eventLog{}
		s := newServer(t, newTools(), serve.Options{Observer: log.observe})
		in := halfClosing{lines: strings.NewReader(call("1", "echo", `{"text":"whole"}`) + "\n" + `{"jsonrpc":"2.0","id":2,`), wrote: make(chan string, 8)}
		require.ErrorIs(t, s.Serve(context.Background(), in), io.ErrUnexpectedEOF)
		require.Equal(t, "whole", parse(t, <-in.wrote).text(t))
		synctest.Wait()
		require.Contains(t, log.take(), "frame.rejected trailing_bytes")
		// The last line may lack its newline.
		in = halfClosing{lines: strings.NewReader(call("1", "echo", `{"text":"last"}`)), wrote: make(chan string, 8)}
		require.NoError(t, s.Serve(context.Background(), in))
		require.Equal(t, "last", parse(t, <-in.wrote).text(t))
	})
}

// A listener that has no room for a moment is asked again.
func TestListenGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{})
		l := &failing{pipeListener: newPipeListener(), errs: []error{syscall.EMFILE, syscall.ECONNABORTED, os.ErrDeadlineExceeded}}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Listen(ctx, l) }()
		c, err := l.dial(ctx, "", "")
		require.NoError(t, err)
		_ = c.Close()
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
		broken := &failing{pipeListener: newPipeListener(), errs: []error{io.ErrClosedPipe}}
		require.ErrorIs(t, s.Listen(context.Background(), broken), io.ErrClosedPipe)
	})
}

// failing is a listener that fails first.
type failing struct {
	*pipeListener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		return nil, err
	}
	return f.pipeListener.Accept()
}

// X12: two clients with one token each get their own progress.
func TestX12SameToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{})
		a, b := connect(t, s), connect(t, s)
		a.send(call("1", "progress", `{"n":2}`, `"progressToken":1`))
		b.send(call("1", "progress", `{"n":4}`, `"progressToken":1`))
		for p, n := range map[*peer]int{a: 2, b: 4} {
			for i := range n {
				require.EqualValues(t, i+1, parse(t, p.receive()).Params.Progress)
			}
			require.Equal(t, "reported", parse(t, p.receive()).text(t))
			require.NoError(t, p.hangUp())
		}
	})
}

// X18: after a quick cancel the next call is answered.
func TestX18AfterACancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		for i := range 500 {
			a, b := fmt.Sprintf(`"a%d"`, i), fmt.Sprintf(`"b%d"`, i)
			go p.send(call(a, "echo", `{}`), cancelled(a), call(b, "echo", `{}`))
			for string(parse(t, p.receive()).ID) != b {
			}
		}
		require.NoError(t, p.hangUp())
	})
}

// R03, R09: ping, with params that are null and an id that is a string.
func TestR09Ping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		p.send(fmt.Sprintf(hello, "2025-06-18"))
		_ = p.receive()
		for _, id := range []string{`4`, `"123"`, `0`, `""`} {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping","params":null}`, id))
			require.JSONEq(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id), p.receive())
		}
		require.NoError(t, p.hangUp())
	})
}

// B05: a subscriber that reads nothing holds up nobody else.
func TestB05SlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{WriteBuffer: 1 << 10, WriteTimeout: -1})
		slow, quick := connect(t, s), connect(t, s)
		for _, p := range []*peer{slow, quick} {
			p.send(request("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
			require.Contains(t, p.receive(), "acknowledged")
		}
		for i := range 10_000 {
			s.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
			if i%100 == 0 {
				quick.send(call("2", "echo", `{"text":"on"}`))
			}
			if i%100 == 0 {
				for !strings.Contains(quick.receive(), `"on"`) {
				}
			}
		}
		go func() {
			for quick.lines.Scan() {
			}
		}()
		synctest.Wait()
		_ = slow.hangUp()
		_ = quick.hangUp()
	})
}

// L06, L15: connections that end in any way leave nothing behind: a goroutine that
// stays fails the bubble.
func TestL15NothingStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := newServer(t, f, serve.Options{})
		for i := range 200 {
			ctx, cancel := context.WithCancel(context.Background())
			ours, theirs := net.Pipe()
			ended := make(chan error, 1)
			go func() { ended <- s.Serve(ctx, ours) }()
			for id := range 10 {
				_, err := fmt.Fprintln(theirs, call(fmt.Sprint(id), "wait", `{}`))
				require.NoError(t, err)
			}
			switch i % 3 {
			case 0:
				_ = theirs.Close()
			case 1:
				cancel()
			case 2:
				s.Close()
				s.Close()
				require.ErrorIs(t, <-ended, serve.ErrStopped)
				s = newServer(t, f, serve.Options{})
				ended <- nil
			}
			err := <-ended
			if i%3 == 1 {
				require.ErrorIs(t, err, context.Canceled)
			}
			_ = theirs.Close()
			cancel()
		}
		synctest.Wait()
		require.Zero(t, s.Stats().Open)
	})
}

// A rule of visibility that panics costs the request that asked it.
func TestVisiblePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		d := f.description()
		d.Tools[1].Visible = func(mcp.Caller) bool { panic("rule") }
		server, err := mcp.NewServer(d)
		require.NoError(t, err)
		s, err := serve.New(server, serve.Options{})
		require.NoError(t, err)
		p := connect(t, s)
		p.send(call("1", "wait", `{}`))
		require.Equal(t, -32603, parse(t, p.receive()).Error.Code)
		p.send(call("1", "echo", `{"text":"on"}`))
		require.Equal(t, "on", parse(t, p.receive()).text(t))
		require.NoError(t, p.hangUp())
	})
}

// Text that looks like the modern era's, in an argument, does not make it.
func TestEraIsToldByMeta(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		h := w.begin("2025-03-26")
		r := w.do(http.MethodPost, old("1", "echo", `{"text":"\"io.modelcontextprotocol/protocolVersion\""}`, ""), h[:2]...)
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Contains(t, r.all(), "protocolVersion")
		r = w.do(http.MethodPost, old("1", "ask", `{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, ""), h[:2]...)
		require.Equal(t, "text/event-stream", r.kind(), "it asks on the session's stream")
		r.drop()
	})
}

// In process a client sees lines, as anywhere.
func TestInProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{})
		ctx, cancel := context.WithCancel(context.Background())
		c := s.InProcess(ctx)
		_, err := fmt.Fprintln(c, call("1", "echo", `{"text":"in process"}`))
		require.NoError(t, err)
		lines := bufio.NewReader(c)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "in process", parse(t, line).text(t))
		cancel()
		_, err = lines.ReadString('\n')
		require.ErrorIs(t, err, io.EOF)
	})
}

// Every shutdown ends: answers first, then the streams, then the connections.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := newServer(t, f, serve.Options{})
		p := connect(t, s)
		p.send(call("1", "stuck", `{}`))
		<-f.entered
		down := make(chan error, 1)
		go func() { down <- s.Shutdown(context.Background()) }()
		synctest.Wait()
		p.send(call("2", "echo", `{}`))
		require.Equal(t, -32603, parse(t, p.receive()).Error.Code)
		close(f.release)
		require.Equal(t, "released", parse(t, p.receive()).text(t))
		require.NoError(t, <-down)
		require.ErrorIs(t, <-p.ended, serve.ErrStopped)
		_, err := s.Connect(context.Background(), mcp.Caller{}, newMemory())
		require.ErrorIs(t, err, serve.ErrStopped)
		_ = p.conn.Close()
	})
}

// Handlers and the calls of Stats, Notify and Close from everywhere at once.
func TestEverythingAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := newServer(t, f, serve.Options{Observer: func(serve.Event) {}})
		var all sync.WaitGroup
		var peers []*peer
		for range 8 {
			p := connect(t, s)
			peers = append(peers, p)
			all.Go(func() {
				for i := range 100 {
					p.send(call(fmt.Sprint(i), "echo", `{}`))
				}
			})
			all.Go(func() {
				for got := 0; got < 100; got++ {
					if !p.lines.Scan() {
						return
					}
				}
			})
		}
		for range 4 {
			all.Go(func() {
				for range 50 {
					_ = s.Stats()
					s.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
				}
			})
		}
		all.Wait()
		for _, p := range peers {
			require.NoError(t, p.hangUp())
		}
		s.Close()
	})
}
