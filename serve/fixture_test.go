package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// tools is the server that most tests run.
//
//	echo     answers with its text
//	wait     waits for its context
//	stuck    waits for release, whatever its context says
//	panic    panics
//	goexit   ends its goroutine
//	progress reports n times
//	ask      asks the client's user
type tools struct {
	release chan struct{}
	entered chan string // the tools that wait, by name, when they begin
	left    chan error  // the causes of their contexts, when they end
}

type echoIn struct {
	Text string `json:"text,omitempty"`
}

type countIn struct {
	N int `json:"n,omitempty"`
}

func newTools() *tools {
	return &tools{release: make(chan struct{}), entered: make(chan string, 4096), left: make(chan error, 4096)}
}

func (f *tools) description() mcp.Description {
	raw := func(name string, handle mcp.ToolHandler) mcp.ServerTool {
		return mcp.ServerTool{Tool: mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, Handle: handle}
	}
	return mcp.Description{
		Info: mcp.Implementation{Name: "fixture", Version: "1"},
		Key:  []byte("0123456789abcdef"), Logging: true,
		Tools: []mcp.ServerTool{
			mcp.NewTool(mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.Request, in echoIn) (string, error) { return in.Text, nil }),
			raw("wait", func(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
				f.entered <- r.Tool()
				<-ctx.Done()
				f.left <- context.Cause(ctx)
				return mcp.ToolText("too late"), nil
			}),
			raw("stuck", func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
				f.entered <- r.Tool()
				<-f.release
				return mcp.ToolText("released"), nil
			}),
			raw("panic", func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { panic("secret of the handler") }),
			raw("goexit", func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
				runtime.Goexit()
				return nil, nil
			}),
			mcp.NewTool(mcp.Tool{Name: "progress"}, func(ctx context.Context, r *mcp.Request, in countIn) (string, error) {
				for i := range in.N {
					if err := r.Report(ctx, mcp.Progress{Value: float64(i + 1), Total: float64(in.N)}); err != nil {
						return "", err
					}
				}
				return "reported", nil
			}),
			raw("ask", func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
				if got, ok := r.Input("roots"); ok {
					return mcp.ToolText(string(got)), nil
				}
				return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"roots": mcp.ListRoots()}}
			}),
		},
		Resources: []mcp.ServerResource{{
			Resource: mcp.Resource{URI: "test://a", Name: "a"},
			Handle: func(context.Context, *mcp.Request) (*mcp.ReadResult, error) {
				return &mcp.ReadResult{Contents: []mcp.Contents{{URI: "test://a", Text: "content"}}}, nil
			},
		}},
	}
}

func newServer(t testing.TB, f *tools, o serve.Options) *serve.Server {
	t.Helper()
	d, err := mcp.NewServer(f.description())
	require.NoError(t, err)
	s, err := serve.New(d, o)
	require.NoError(t, err)
	return s
}

// peer is a client that reads and writes lines as they are.
type peer struct {
	t     testing.TB
	conn  net.Conn
	lines *bufio.Scanner
	ended chan error // what Serve returned
}

// connect serves one peer over a pipe.
func connect(t testing.TB, s *serve.Server) *peer {
	t.Helper()
	ours, theirs := net.Pipe()
	p := &peer{t: t, conn: theirs, lines: bufio.NewScanner(theirs), ended: make(chan error, 1)}
	p.lines.Buffer(nil, 64<<20)
	go func() { p.ended <- s.Serve(context.Background(), ours) }()
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	_, err := io.WriteString(p.conn, strings.Join(lines, "\n")+"\n")
	require.NoError(p.t, err)
}

// receive is the next line.
func (p *peer) receive() string {
	p.t.Helper()
	require.True(p.t, p.lines.Scan(), "the stream ended: %v", p.lines.Err())
	return p.lines.Text()
}

// hangUp closes the stream and gives what Serve returned.
func (p *peer) hangUp() error {
	_ = p.conn.Close()
	return <-p.ended
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`

// call is a modern tools/call; id is JSON text, extra goes into _meta.
func call(id, tool, arguments string, extra ...string) string {
	m := meta
	if len(extra) > 0 {
		m = strings.TrimSuffix(meta, "}") + "," + strings.Join(extra, ",") + "}"
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id, tool, arguments, m)
}

func request(id, method, params string) string {
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, meta, params)
}

func cancelled(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
}

// answer is what a line says, as far as tests look at it.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Progress float64         `json:"progress"`
		Token    json.RawMessage `json:"progressToken"`
	} `json:"params"`
	Result *struct {
		ResultType string `json:"resultType"`
		IsError    bool   `json:"isError"`
		Content    []struct{ Text string }
		Tools      []struct{ Name string }
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func parse(t testing.TB, line string) answer {
	t.Helper()
	var a answer
	require.NoError(t, json.Unmarshal([]byte(line), &a), line)
	return a
}

// text is the text of a tool's result.
func (a answer) text(t testing.TB) string {
	t.Helper()
	require.NotNil(t, a.Result, "%+v", a)
	require.NotEmpty(t, a.Result.Content)
	return a.Result.Content[0].Text
}
