package gosdk_test

//lint:file-ignore SA1019 clients of the older era may be asked to sample

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

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/gosdk"
	"github.com/correlator-go/correlator/conn"
)

// serverVar makes the test binary a server over its standard input and output.
const serverVar = "CORRELATOR_GOSDK_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(serverVar) {
	case "":
		os.Exit(m.Run())
	case "serve":
		if err := newServer(newBench()).Run(context.Background(), gosdk.Stdio(gosdk.Options{})); err != nil && !errors.Is(err, io.EOF) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	case "stdio": // the child of the page for those who come from go-sdk
		if err := serveOverOurs(context.Background(), newServer(newBench())); err != nil && !errors.Is(err, io.EOF) {
			os.Exit(3)
		}
	case "banner": // as a server does that logs to its standard output
		fmt.Println("Server listening on port 3000")
		_ = newServer(newBench()).Run(context.Background(), gosdk.Stdio(gosdk.Options{}))
	case "broken":
		fmt.Fprintln(os.Stderr, "no luck today")
		os.Exit(7)
	}
}

func child(t testing.TB, kind string) conn.Command {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return conn.Command{Path: self, Env: append(os.Environ(), serverVar+"="+kind), Grace: 2 * time.Second}
}

// bench is where the tools of a server and a test meet.
type bench struct{ begun, cancelled chan struct{} }

func newBench() bench { return bench{make(chan struct{}, 100), make(chan struct{}, 100)} }

type input struct {
	N int `json:"n"`
}

// newServer is a server of go-sdk.
//
//	double     answers with twice n
//	steps      reports n times
//	linger     reports once and runs until it is cancelled
//	cancelled  answers when linger was cancelled
//	ask        has the client sample
//	die        ends the process
//	grow       adds a tool, which the client is told of
func newServer(b bench) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
	add := func(name string, f func(context.Context, *mcp.CallToolRequest, int) (string, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, r *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
			text, err := f(ctx, r, in.N)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
		})
	}
	report := func(ctx context.Context, r *mcp.CallToolRequest, i int) error {
		return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
	}
	add("double", func(_ context.Context, _ *mcp.CallToolRequest, n int) (string, error) { return fmt.Sprint(2 * n), nil })
	add("steps", func(ctx context.Context, r *mcp.CallToolRequest, n int) (string, error) {
		for i := range n {
			if err := report(ctx, r, i+1); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	add("linger", func(ctx context.Context, r *mcp.CallToolRequest, _ int) (string, error) {
		b.begun <- struct{}{}
		if r.Params.GetProgressToken() != nil {
			// The client may cancel as soon as it has this: before it counts as written.
			if err := report(ctx, r, 1); err != nil && ctx.Err() == nil {
				return "", err
			}
		}
		<-ctx.Done()
		b.cancelled <- struct{}{}
		return "", ctx.Err()
	})
	add("cancelled", func(ctx context.Context, _ *mcp.CallToolRequest, _ int) (string, error) {
		select {
		case <-b.cancelled:
			return "yes", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	add("ask", func(ctx context.Context, r *mcp.CallToolRequest, _ int) (string, error) {
		answer, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
			MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "name?"}}},
		})
		if err != nil {
			return "", err
		}
		return answer.Content.(*mcp.TextContent).Text, nil
	})
	add("die", func(context.Context, *mcp.CallToolRequest, int) (string, error) {
		fmt.Fprintln(os.Stderr, "no luck today")
		os.Exit(7)
		return "", nil
	})
	add("grow", func(context.Context, *mcp.CallToolRequest, int) (string, error) {
		add("grown", func(context.Context, *mcp.CallToolRequest, int) (string, error) { return "", nil })
		return "", nil
	})
	return s
}

// serve runs servers over what connects to a socket until the test is over.
func serve(t testing.TB, network string) (address string) {
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
			wg.Go(func() { _ = newServer(newBench()).Run(ctx, gosdk.Stream(c, gosdk.Options{})) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		stop()
		wg.Wait()
	})
	return l.Addr().String()
}

// connect connects a client over link, in the era of version; empty is the newest.
func connect(t testing.TB, link mcp.Transport, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, o)
	s, err := c.Connect(t.Context(), link, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// tool calls a tool with the argument n, and a token unless that is nil.
func tool(ctx context.Context, s *mcp.ClientSession, name string, n int, token any) (string, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: input{n}}
	if token != nil {
		params.SetProgressToken(token)
	}
	result, err := s.CallTool(ctx, params)
	if err != nil {
		return "", err
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		return "", errors.New(text)
	}
	return text, nil
}
