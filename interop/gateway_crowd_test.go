package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// The crowd: clients of go-sdk, a quarter each over Streamable HTTP and a socket in
// either era, and of the TypeScript SDK, over Streamable HTTP, half of them in either.
const (
	crowdGo         = 200
	crowdTypeScript = 20
	// cancelEvery is how many clients there are for one that gives a call up.
	cancelEvery = 5
	// sameToken is the progress token of every client of go-sdk; those of the
	// TypeScript SDK take the id of the request, which is the same for all as well.
	sameToken = "the same"
)

// behind starts a gateway in front of servers, and gives the URL of its endpoint.
func behind(t *testing.T, o gateway.Options) (g *gateway.Gateway, url string) {
	t.Helper()
	for i := range o.Upstreams {
		o.Upstreams[i].Isolation, o.Upstreams[i].Timeout = gateway.Shared, 10*time.Minute
	}
	g, err := gateway.New(o)
	require.NoError(t, err)
	endpoint, err := downstream.NewEndpoint(g, downstream.HTTPOptions{})
	require.NoError(t, err)
	server := httptest.NewServer(endpoint)
	t.Cleanup(func() {
		require.NoError(t, endpoint.Close())
		server.Close()
		require.NoError(t, g.Close())
	})
	return g, server.URL
}

func everythingChild(t *testing.T) link.Opener {
	const name = "@modelcontextprotocol/server-everything"
	script := filepath.Join(packages(t, name), "node_modules", name, "dist/index.js")
	return upstream.Child(conn.Command{Path: node(t), Args: []string{script, "stdio"}}, conn.Options{})
}

func crowdChild() link.Opener {
	return upstream.Child(conn.Command{Path: os.Args[0], Env: append(os.Environ(), serveEnv+"="+crowdServer)}, conn.Options{})
}

// 220 clients, all with the same ids and progress tokens, share one server: every
// answer and every report of progress reaches its owner, by the owner's mark in it, and
// who gives a call up stops that and no other. That it stops its own is shown where the
// server of go-sdk says which operations it stopped: the long-running operation of
// server-everything takes no notice of a cancel and reports progress to its end, so here
// it is what all others do, which is to end with their own answers, that is seen.
func TestGatewayCrowdOnServerEverything(t *testing.T) {
	packages(t, "@modelcontextprotocol/client")
	g, url := behind(t, gateway.Options{Upstreams: []gateway.Upstream{{Name: "everything", Opener: everythingChild(t)}}})
	crowd(t, g, url, "", crowdGo, crowdTypeScript)
}

func TestGatewayCrowdOnGoSDKServer(t *testing.T) {
	packages(t, "@modelcontextprotocol/client")
	g, url := behind(t, gateway.Options{Upstreams: []gateway.Upstream{{Name: "crowd", Opener: crowdChild()}}})
	given := crowd(t, g, url, "", crowdGo, crowdTypeScript)
	requireStopped(t, url, "stopped", given)
}

// Both servers as one, with a smaller crowd at each: the same ids, tokens and marks.
func TestGatewayCrowdOnBothMerged(t *testing.T) {
	packages(t, "@modelcontextprotocol/client")
	g, url := behind(t, gateway.Options{Merge: true, Upstreams: []gateway.Upstream{
		{Name: "ts", Opener: everythingChild(t)}, {Name: "go", Opener: crowdChild()},
	}})
	var both sync.WaitGroup
	both.Go(func() { crowd(t, g, url, "ts__", crowdGo/5, crowdTypeScript/5) })
	given := crowd(t, g, url, "go__", crowdGo/5, crowdTypeScript/5)
	both.Wait()
	requireStopped(t, url, "go__stopped", given)
}

// requireStopped asks the server of go-sdk which operations were stopped.
func requireStopped(t *testing.T, url, tool string, want []int) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "asker", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, session.Close()) }()
	got := ""
	require.Eventually(t, func() bool {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}})
		require.NoError(t, err)
		got = r.Content[0].(*mcp.TextContent).Text
		return len(got) >= len(fmt.Sprint(want))
	}, 30*time.Second, 50*time.Millisecond, "the server did not hear of all cancels")
	require.Equal(t, fmt.Sprint(want), got)
}

// crowd lets the clients loose, and gives the marks of the operations that were given
// up, in order.
func crowd(t *testing.T, g *gateway.Gateway, url, prefix string, golang, typescript int) (given []int) {
	var work sync.WaitGroup
	var heard atomic.Int64
	for i := range golang {
		m := mark(i)
		if m.gives() {
			given = append(given, m.given())
		}
		work.Go(func() {
			n, err := m.visit(t.Context(), g, url, prefix)
			if err != nil {
				t.Errorf("client %d of go-sdk: %v", i, err)
			}
			heard.Add(int64(n))
		})
	}
	var out struct {
		Errors []string
		Heard  int
	}
	work.Go(func() {
		printed := script(t, node(t), "peers/crowd.mjs", packages(t, "@modelcontextprotocol/client"), url, prefix,
			fmt.Sprint(golang), fmt.Sprint(golang+typescript), fmt.Sprint(cancelEvery))
		if err := json.Unmarshal(printed, &out); err != nil {
			t.Errorf("%v: %s", err, printed)
		}
	})
	for i := golang; i < golang+typescript; i++ {
		if m := mark(i); m.gives() {
			given = append(given, m.given())
		}
	}
	work.Wait()
	require.Empty(t, out.Errors)
	t.Logf("%d reports of progress to clients of go-sdk, %d to those of the TypeScript SDK; %+v", heard.Load(), out.Heard, g.Stats())
	require.Greater(t, heard.Load(), int64(golang), "progress reached them")
	require.Greater(t, out.Heard, typescript, "progress reached them")
	return given
}

// mark is what tells one client's payloads from another's.
type mark int

func (m mark) gives() bool { return int(m)%cancelEvery == 0 }

// steps are those of the client's operation, given those of the one that it gives up.
func (m mark) steps() int { return 5 + int(m) }
func (m mark) given() int { return 1000 + int(m) }

// visit is one client of go-sdk from beginning to end. heard is how much progress it
// was told of.
func (m mark) visit(ctx context.Context, g *gateway.Gateway, url, prefix string) (heard int, err error) {
	var mu sync.Mutex
	var wrong error
	begun := make(chan struct{}, 1)
	client := mcp.NewClient(&mcp.Implementation{Name: fmt.Sprint("client ", int(m)), Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			heard++
			total := int(r.Params.Total)
			if r.Params.ProgressToken != sameToken || total != m.steps() && total != m.given() {
				wrong = errors.Join(wrong, fmt.Errorf("another's progress: %+v", r.Params))
			}
			if total == m.given() {
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		},
	})
	session, err := client.Connect(ctx, m.transport(ctx, g, url), &mcp.ClientSessionOptions{ProtocolVersion: m.revision()})
	if err != nil {
		return heard, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for round := range 3 {
		if err := m.call(ctx, session, prefix+"echo", map[string]any{"message": m.word(round)}, "Echo: "+m.word(round)); err != nil {
			return heard, err
		}
	}
	if err := m.call(ctx, session, prefix+"trigger-long-running-operation", map[string]any{"duration": 0.5, "steps": m.steps()},
		fmt.Sprintf("Long running operation completed. Duration: 0.5 seconds, Steps: %d.", m.steps())); err != nil {
		return heard, err
	}
	if m.gives() {
		if err := m.giveUp(ctx, session, prefix, begun); err != nil {
			return heard, err
		}
	}
	err = m.call(ctx, session, prefix+"echo", map[string]any{"message": m.word(9)}, "Echo: "+m.word(9))
	mu.Lock()
	defer mu.Unlock()
	return heard, errors.Join(err, wrong)
}

func (m mark) word(round int) string { return fmt.Sprintf("mark %d, round %d", int(m), round) }

func (m mark) revision() string {
	if m%2 == 0 {
		return "2025-11-25"
	}
	return ""
}

// transport is Streamable HTTP, or one end of a socket.
func (m mark) transport(ctx context.Context, g *gateway.Gateway, url string) mcp.Transport {
	if m/2%2 == 0 {
		return &mcp.StreamableClientTransport{Endpoint: url}
	}
	ours, theirs := net.Pipe()
	go func() { _ = downstream.Serve(ctx, g, theirs, "unix", downstream.Options{}) }()
	return &mcp.IOTransport{Reader: ours, Writer: ours}
}

func (m mark) call(ctx context.Context, session *mcp.ClientSession, tool string, arguments map[string]any, want string) error {
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken(sameToken)
	r, err := session.CallTool(ctx, params)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if got := r.Content[0].(*mcp.TextContent).Text; got != want {
		return fmt.Errorf("another's answer: %q, want %q", got, want)
	}
	return nil
}

// giveUp begins an operation that takes longer than the crowd, and cancels it when it
// reports.
func (m mark) giveUp(ctx context.Context, session *mcp.ClientSession, prefix string, begun <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan error, 1)
	go func() {
		over <- m.call(ctx, session, prefix+"trigger-long-running-operation", map[string]any{"duration": 30, "steps": m.given()}, "")
	}()
	select {
	case <-begun:
	case err := <-over:
		return fmt.Errorf("the operation to give up was over before: %w", err)
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("given up: %w", err)
	}
	return nil
}
