package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// pipe is one end of two io.Pipes: a stream without buffers of its own.
type pipe struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipe) Close() error {
	_ = p.WriteCloser.Close()
	return p.ReadCloser.Close()
}

func (p pipe) CloseWrite() error { return p.WriteCloser.Close() }

func pipes() (ours, theirs pipe) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	return pipe{outR, inW}, pipe{inR, outW}
}

// workshop is a go-sdk server with tools that can be held.
type workshop struct {
	server  *mcp.Server
	session chan *mcp.ServerSession // each call's, for tests that speak as the server

	mu      sync.Mutex
	gathers map[int][]chan struct{}
	held    chan string // names of the calls that "hold" has begun and ended
}

// memo is the workshop's one resource, which touch changes.
const memo = "memo://1"

type numbered struct {
	N   int `json:"n"`
	Of  int `json:"of,omitempty"`
	Cut int `json:"cut,omitempty"`
}

func newWorkshop() *workshop {
	w := &workshop{
		server: mcp.NewServer(&mcp.Implementation{Name: "workshop", Version: "1"}, &mcp.ServerOptions{
			SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
			UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		}),
		session: make(chan *mcp.ServerSession, 1),
		gathers: map[int][]chan struct{}{},
		held:    make(chan string, 100),
	}
	mcp.AddTool(w.server, &mcp.Tool{Name: "double"}, func(_ context.Context, r *mcp.CallToolRequest, in numbered) (*mcp.CallToolResult, any, error) {
		return text("%d", 2*in.N), nil, nil
	})
	// gather answers nobody until In.Of calls are there, then all of them in a
	// random order.
	mcp.AddTool(w.server, &mcp.Tool{Name: "gather"}, func(_ context.Context, r *mcp.CallToolRequest, in numbered) (*mcp.CallToolResult, any, error) {
		<-w.gather(in.Of)
		return text("%d", 2*in.N), nil, nil
	})
	// hold answers when it is cancelled.
	mcp.AddTool(w.server, &mcp.Tool{Name: "hold"}, func(ctx context.Context, r *mcp.CallToolRequest, in numbered) (*mcp.CallToolResult, any, error) {
		w.held <- "begun"
		<-ctx.Done()
		w.held <- "cancelled"
		return nil, nil, ctx.Err()
	})
	// steps reports in.N times before it answers.
	mcp.AddTool(w.server, &mcp.Tool{Name: "steps"}, func(ctx context.Context, r *mcp.CallToolRequest, in numbered) (*mcp.CallToolResult, any, error) {
		for i := range in.N {
			err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: float64(in.N),
				Message: fmt.Sprint("step ", i+1),
			})
			if err != nil {
				return nil, nil, err
			}
		}
		return text("%d steps", in.N), nil, nil
	})
	// linger reports once and answers when it is cancelled.
	mcp.AddTool(w.server, &mcp.Tool{Name: "linger"}, func(ctx context.Context, r *mcp.CallToolRequest, in numbered) (*mcp.CallToolResult, any, error) {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		if err != nil {
			return nil, nil, err
		}
		<-ctx.Done()
		w.held <- "cancelled"
		return nil, nil, ctx.Err()
	})
	// touch changes the memo.
	mcp.AddTool(w.server, &mcp.Tool{Name: "touch"}, func(ctx context.Context, r *mcp.CallToolRequest, in numbered) (*mcp.CallToolResult, any, error) {
		return text("touched"), nil, w.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: memo})
	})
	w.server.AddResource(&mcp.Resource{URI: memo, Name: "memo"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "buy milk"}}}, nil
	})
	// speak hands its session to the test.
	mcp.AddTool(w.server, &mcp.Tool{Name: "speak"}, func(ctx context.Context, r *mcp.CallToolRequest, in numbered) (*mcp.CallToolResult, any, error) {
		w.session <- r.Session
		return text("spoken"), nil, nil
	})
	return w
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// gather gives what the call waits on.
func (w *workshop) gather(of int) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	ready := make(chan struct{})
	w.gathers[of] = append(w.gathers[of], ready)
	if all := w.gathers[of]; len(all) == of {
		delete(w.gathers, of)
		go func() {
			for _, i := range rand.Perm(of) {
				close(all[i])
			}
		}()
	}
	return ready
}

// serve runs the server on a pipe and gives our end of it, unconnected.
func (w *workshop) serve(t *testing.T) pipe {
	t.Helper()
	ours, theirs := pipes()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.server.Run(ctx, &mcp.IOTransport{Reader: theirs.ReadCloser, Writer: theirs.WriteCloser})
	}()
	t.Cleanup(func() {
		_ = ours.Close()
		cancel()
		<-done
	})
	return ours
}

// connect gives an initialized connection to the server.
func (w *workshop) connect(t *testing.T, o conn.Options) *conn.Conn {
	t.Helper()
	c, err := conn.New(w.serve(t), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	initialize(t, c)
	return c
}

func initialize(t *testing.T, c *conn.Conn) map[string]any {
	t.Helper()
	got, err := conn.Call[map[string]any](t.Context(), c, "initialize", map[string]any{
		"protocolVersion": "2025-11-25",
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "correlator", "version": "test"},
	}, conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "2025-11-25", got["protocolVersion"])
	require.NoError(t, c.Notify(t.Context(), "notifications/initialized", nil))
	return got
}

// toolResult is what the tests look at in a tools/call result.
type toolResult struct {
	Content []struct{ Text string }
	IsError bool
}

func call(tool string, args any) map[string]any {
	return map[string]any{"name": tool, "arguments": args}
}

func tool(t *testing.T, c *conn.Conn, name string, args any, o conn.CallOptions) (string, error) {
	got, err := conn.Call[toolResult](t.Context(), c, "tools/call", call(name, args), o)
	if err != nil || len(got.Content) == 0 {
		return "", err
	}
	return got.Content[0].Text, nil
}

func TestGoSDKServerLists(t *testing.T) {
	c := newWorkshop().connect(t, conn.Options{})
	got, err := conn.Call[struct{ Tools []struct{ Name string } }](t.Context(), c, "tools/list", nil, conn.CallOptions{})
	require.NoError(t, err)
	require.Len(t, got.Tools, 7)
	_, err = conn.Call[json.RawMessage](t.Context(), c, "no/such/method", nil, conn.CallOptions{})
	require.Error(t, err)
}

// A thousand calls in one go, answered in random order.
func TestGoSDKServerThousandPipelined(t *testing.T) {
	c := newWorkshop().connect(t, conn.Options{})
	const n = 1000
	type answer struct {
		i int
		o conn.Outcome
	}
	answers := make(chan answer, n)
	requests := make([]conn.Request, n)
	for i := range requests {
		params, err := json.Marshal(call("gather", numbered{N: i, Of: n}))
		require.NoError(t, err)
		requests[i] = conn.Request{Method: "tools/call", Params: params, Notify: func(o conn.Outcome) {
			o.Value = append([]byte(nil), o.Value...)
			answers <- answer{i, o}
		}}
	}
	accepted, err := c.Submit(t.Context(), requests)
	require.NoError(t, err)
	require.Equal(t, n, accepted)
	seen := make([]bool, n)
	inversions, last := 0, -1
	for range n {
		a := <-answers
		require.NoError(t, a.o.Err)
		var got toolResult
		require.NoError(t, json.Unmarshal(a.o.Value, &got))
		require.False(t, got.IsError)
		require.Equal(t, fmt.Sprint(2*a.i), got.Content[0].Text)
		require.False(t, seen[a.i])
		seen[a.i] = true
		if a.i < last {
			inversions++
		}
		last = a.i
	}
	require.Positive(t, inversions, "the answers came in order: the test proves nothing")
	stats := c.Stats()
	require.Zero(t, stats.Calls.Pending)
	require.Zero(t, stats.Calls.Unknown+stats.Calls.Late+stats.Calls.Duplicate)
}

func TestGoSDKServerThousandCallers(t *testing.T) {
	c := newWorkshop().connect(t, conn.Options{})
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			got, err := tool(t, c, "gather", numbered{N: i, Of: 1000}, conn.CallOptions{})
			if err != nil || got != fmt.Sprint(2*i) {
				t.Errorf("call %d: %q, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}
