package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// booth is a minimal MCP server of the older era: a Handler and nothing more.
type booth struct {
	c     *conn.Conn // set before the client connects
	held  chan string
	mu    sync.Mutex
	calls []func()
}

func (b *booth) Handle(ctx context.Context, r *conn.Inbound) {
	switch r.Method() {
	case "initialize":
		reply(r, map[string]any{
			"protocolVersion": "2025-11-25",
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": "booth", "version": "1"},
		})
	case "tools/list":
		schema := map[string]any{"type": "object"}
		reply(r, map[string]any{"tools": []any{
			map[string]any{"name": "double", "inputSchema": schema},
			map[string]any{"name": "steps", "inputSchema": schema},
		}})
	case "tools/call":
		b.call(ctx, r)
	default:
		if !r.IsNotification() {
			_ = r.ReplyError(&codec.Error{Code: codec.CodeMethodNotFound, Message: "method not found"})
		}
	}
}

func reply(r *conn.Inbound, result any) {
	text, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	_ = r.Reply(text)
}

func (b *booth) call(ctx context.Context, r *conn.Inbound) {
	var params struct {
		Name      string   `json:"name"`
		Arguments numbered `json:"arguments"`
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(r.Params(), &params); err != nil {
		_ = r.ReplyError(&codec.Error{Code: codec.CodeInvalidParams, Message: err.Error()})
		return
	}
	answer := func(format string, args ...any) {
		reply(r, map[string]any{"content": []any{map[string]any{"type": "text", "text": fmt.Sprintf(format, args...)}}})
	}
	n := params.Arguments.N
	switch params.Name {
	case "double":
		answer("%d", 2*n)
	case "gather":
		// Answered later, the last come first, by whoever completes the number.
		r.Detach()
		b.mu.Lock()
		b.calls = append(b.calls, func() { answer("%d", 2*n) })
		calls := b.calls
		b.mu.Unlock()
		if len(calls) == params.Arguments.Of {
			for i := range calls {
				calls[len(calls)-1-i]()
			}
		}
	case "steps":
		for i := range n {
			text := fmt.Appendf(nil, `{"progressToken":%s,"progress":%d,"total":%d}`, params.Meta.ProgressToken, i+1, n)
			_ = b.c.Notify(ctx, "notifications/progress", text)
		}
		answer("%d steps", n)
	case "hold":
		b.held <- "begun"
		<-ctx.Done()
		b.held <- "cancelled"
		answer("never to be seen")
	default:
		_ = r.ReplyError(&codec.Error{Code: codec.CodeInvalidParams, Message: "unknown tool", Data: []byte(`{"name":"` + params.Name + `"}`)})
	}
}

// visit connects a go-sdk client to a booth; an empty version is its newest.
func visit(t *testing.T, o *mcp.ClientOptions, version string) (*booth, *mcp.ClientSession) {
	t.Helper()
	b := &booth{held: make(chan string, 10)}
	ours, theirs := pipes()
	ready := make(chan struct{})
	c, err := conn.New(ours, conn.Options{
		MaxQueued: 2000,
		Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
			<-ready
			b.Handle(ctx, r)
		}),
	})
	require.NoError(t, err)
	b.c = c
	close(ready)
	client := mcp.NewClient(&mcp.Implementation{Name: "visitor", Version: "1"}, o)
	transport := &mcp.IOTransport{Reader: theirs.ReadCloser, Writer: theirs.WriteCloser}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		_ = c.Close()
	})
	return b, session
}

func ask(t *testing.T, session *mcp.ClientSession, name string, args numbered) (string, error) {
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	return got.Content[0].(*mcp.TextContent).Text, nil
}

func TestGoSDKClientLists(t *testing.T) {
	_, session := visit(t, nil, "2025-11-25")
	require.Equal(t, "booth", session.InitializeResult().ServerInfo.Name)
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 2)
	require.NoError(t, session.Ping(t.Context(), nil), "the connection answers it by itself")
	_, err = ask(t, session, "no such tool", numbered{})
	require.ErrorContains(t, err, "unknown tool")
}

// A thousand calls at once, answered in the reverse of the order they came in.
func TestGoSDKClientThousandCalls(t *testing.T) {
	_, session := visit(t, nil, "2025-11-25")
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			got, err := ask(t, session, "gather", numbered{N: i, Of: 1000})
			if err != nil || got != fmt.Sprint(2*i) {
				t.Errorf("call %d: %q, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

func TestGoSDKClientGetsProgress(t *testing.T) {
	var mu sync.Mutex
	var got []float64
	all := make(chan struct{})
	_, session := visit(t, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			if got = append(got, r.Params.Progress); len(got) == 20 {
				close(all)
			}
		},
	}, "2025-11-25")
	params := &mcp.CallToolParams{Name: "steps", Arguments: numbered{N: 20}}
	params.SetProgressToken("token-1")
	result, err := session.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, "20 steps", result.Content[0].(*mcp.TextContent).Text)
	<-all
	for i, progress := range got {
		require.EqualValues(t, i+1, progress)
	}
}

// A cancelled request ends its handler's ctx, and its answer never leaves.
func TestGoSDKClientCancels(t *testing.T) {
	b, session := visit(t, nil, "2025-11-25")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "hold"})
		failed <- err
	}()
	require.Equal(t, "begun", <-b.held)
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	require.Equal(t, "cancelled", <-b.held)
	got, err := ask(t, session, "double", numbered{N: 21})
	require.NoError(t, err)
	require.Equal(t, "42", got)
	stats := b.c.Stats()
	require.Zero(t, stats.CancelsUnknown)
	require.EqualValues(t, 1, stats.CancelsIn)
}
