package mcpgo_test

//lint:file-ignore SA1019 servers of the older era may have the client sample

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	mcpgosdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	mcpgolib "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/correlator-go/correlator/adapters/mcpgo"
	"github.com/correlator-go/correlator/conn"
)

// serverVar makes the test binary a server over its standard input and output.
const serverVar = "CORRELATOR_MCPGO_SERVER"

func TestMain(m *testing.M) {
	var err error
	switch kind := os.Getenv(serverVar); kind {
	case "":
		os.Exit(m.Run())
	case "go-sdk":
		err = newGoSDK().Run(context.Background(), &mcpgosdk.StdioTransport{})
	case "mcp-go":
		err = server.ServeStdio(newMCPGo())
	case "broken":
		fmt.Fprintln(os.Stderr, "no luck today")
		os.Exit(7)
	case "patient": // speaks to nobody
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// bench is what the tools of both servers share.
type bench struct{ released, cancelled chan struct{} }

func newBench() bench { return bench{make(chan struct{}, 100), make(chan struct{}, 100)} }

func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type input struct {
	N int `json:"n"`
}

// newGoSDK is a server of go-sdk.
//
//	double     answers with twice n
//	steps      reports n times, and answers when release was called
//	linger     reports once and runs until it is cancelled
//	cancelled  answers when linger was cancelled
//	ask        has the client sample
//	grow       adds a tool, which the client is told of
func newGoSDK() *mcpgosdk.Server {
	b := newBench()
	s := mcpgosdk.NewServer(&mcpgosdk.Implementation{Name: "go-sdk", Version: "1"}, nil)
	add := func(name string, f func(context.Context, *mcpgosdk.CallToolRequest, int) (string, error)) {
		mcpgosdk.AddTool(s, &mcpgosdk.Tool{Name: name}, func(ctx context.Context, r *mcpgosdk.CallToolRequest, in input) (*mcpgosdk.CallToolResult, any, error) {
			text, err := f(ctx, r, in.N)
			return &mcpgosdk.CallToolResult{Content: []mcpgosdk.Content{&mcpgosdk.TextContent{Text: text}}}, nil, err
		})
	}
	report := func(ctx context.Context, r *mcpgosdk.CallToolRequest, i int) error {
		return r.Session.NotifyProgress(ctx, &mcpgosdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
	}
	add("double", func(_ context.Context, _ *mcpgosdk.CallToolRequest, n int) (string, error) {
		return fmt.Sprint(2 * n), nil
	})
	add("steps", func(ctx context.Context, r *mcpgosdk.CallToolRequest, n int) (string, error) {
		for i := range n {
			if err := report(ctx, r, i+1); err != nil {
				return "", err
			}
		}
		return "done", await(ctx, b.released)
	})
	add("release", func(context.Context, *mcpgosdk.CallToolRequest, int) (string, error) {
		b.released <- struct{}{}
		return "", nil
	})
	add("linger", func(ctx context.Context, r *mcpgosdk.CallToolRequest, _ int) (string, error) {
		if err := report(ctx, r, 1); err != nil {
			return "", err
		}
		<-ctx.Done()
		b.cancelled <- struct{}{}
		return "", ctx.Err()
	})
	add("cancelled", func(ctx context.Context, _ *mcpgosdk.CallToolRequest, _ int) (string, error) {
		return "yes", await(ctx, b.cancelled)
	})
	add("ask", func(ctx context.Context, r *mcpgosdk.CallToolRequest, _ int) (string, error) {
		answer, err := r.Session.CreateMessage(ctx, &mcpgosdk.CreateMessageParams{
			MaxTokens: 10, Messages: []*mcpgosdk.SamplingMessage{{Role: "user", Content: &mcpgosdk.TextContent{Text: "name?"}}},
		})
		if err != nil {
			return "", err
		}
		return answer.Content.(*mcpgosdk.TextContent).Text, nil
	})
	add("grow", func(context.Context, *mcpgosdk.CallToolRequest, int) (string, error) {
		add("grown", func(context.Context, *mcpgosdk.CallToolRequest, int) (string, error) { return "", nil })
		return "", nil
	})
	return s
}

// newMCPGo is a server of mcp-go, with the tools of newGoSDK.
func newMCPGo() *server.MCPServer {
	b := newBench()
	s := server.NewMCPServer("mcp-go", "1", server.WithToolCapabilities(true))
	s.EnableSampling()
	add := func(name string, f func(context.Context, mcpgolib.CallToolRequest, int) (string, error)) {
		s.AddTool(mcpgolib.NewTool(name, mcpgolib.WithNumber("n")), func(ctx context.Context, r mcpgolib.CallToolRequest) (*mcpgolib.CallToolResult, error) {
			text, err := f(ctx, r, r.GetInt("n", 0))
			return mcpgolib.NewToolResultText(text), err
		})
	}
	report := func(ctx context.Context, r mcpgolib.CallToolRequest, i int) error {
		return s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i})
	}
	add("double", func(_ context.Context, _ mcpgolib.CallToolRequest, n int) (string, error) {
		return fmt.Sprint(2 * n), nil
	})
	add("steps", func(ctx context.Context, r mcpgolib.CallToolRequest, n int) (string, error) {
		for i := range n {
			if err := report(ctx, r, i+1); err != nil {
				return "", err
			}
		}
		return "done", await(ctx, b.released)
	})
	add("release", func(context.Context, mcpgolib.CallToolRequest, int) (string, error) {
		b.released <- struct{}{}
		return "", nil
	})
	add("linger", func(ctx context.Context, r mcpgolib.CallToolRequest, _ int) (string, error) {
		if err := report(ctx, r, 1); err != nil {
			return "", err
		}
		<-ctx.Done()
		b.cancelled <- struct{}{}
		return "", ctx.Err()
	})
	add("cancelled", func(ctx context.Context, _ mcpgolib.CallToolRequest, _ int) (string, error) {
		return "yes", await(ctx, b.cancelled)
	})
	add("ask", func(ctx context.Context, _ mcpgolib.CallToolRequest, _ int) (string, error) {
		answer, err := s.RequestSampling(ctx, mcpgolib.CreateMessageRequest{CreateMessageParams: mcpgolib.CreateMessageParams{
			MaxTokens: 10, Messages: []mcpgolib.SamplingMessage{{Role: "user", Content: mcpgolib.NewTextContent("name?")}},
		}})
		if err != nil {
			return "", err
		}
		content, err := mcpgolib.ParseSamplingContent(answer.Content)
		if err != nil {
			return "", err
		}
		return content.(mcpgolib.TextContent).Text, nil
	})
	add("grow", func(context.Context, mcpgolib.CallToolRequest, int) (string, error) {
		add("grown", func(context.Context, mcpgolib.CallToolRequest, int) (string, error) { return "", nil })
		return "", nil
	})
	return s
}

// childOf is this test binary as a server.
func childOf(t testing.TB, kind string) conn.Command {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return conn.Command{Path: self, Env: append(os.Environ(), serverVar+"="+kind), Grace: 2 * time.Second}
}

// accept serves what connects to a socket until the test is over.
func accept(t testing.TB, network string, serve func(context.Context, net.Conn)) (address string) {
	t.Helper()
	address = "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, address)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				serve(ctx, c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		stop()
		wg.Wait()
	})
	return l.Addr().String()
}

func serveGoSDK(ctx context.Context, c net.Conn) {
	_ = newGoSDK().Run(ctx, &mcpgosdk.IOTransport{Reader: c, Writer: c})
}

func serveMCPGo(ctx context.Context, c net.Conn) {
	_ = server.NewStdioServer(newMCPGo()).Listen(ctx, c, c)
}

// everyWay makes a transport of each kind to each server.
var everyWay = map[string]func(testing.TB, mcpgo.Options) *mcpgo.Transport{
	"go-sdk child": func(t testing.TB, o mcpgo.Options) *mcpgo.Transport { return mcpgo.Command(childOf(t, "go-sdk"), o) },
	"go-sdk unix": func(t testing.TB, o mcpgo.Options) *mcpgo.Transport {
		return mcpgo.Dial("unix", accept(t, "unix", serveGoSDK), o)
	},
	"go-sdk tcp": func(t testing.TB, o mcpgo.Options) *mcpgo.Transport {
		return mcpgo.Dial("tcp", accept(t, "tcp", serveGoSDK), o)
	},
	"mcp-go child": func(t testing.TB, o mcpgo.Options) *mcpgo.Transport { return mcpgo.Command(childOf(t, "mcp-go"), o) },
	"mcp-go unix": func(t testing.TB, o mcpgo.Options) *mcpgo.Transport {
		return mcpgo.Dial("unix", accept(t, "unix", serveMCPGo), o)
	},
	"mcp-go tcp": func(t testing.TB, o mcpgo.Options) *mcpgo.Transport {
		return mcpgo.Dial("tcp", accept(t, "tcp", serveMCPGo), o)
	},
}
