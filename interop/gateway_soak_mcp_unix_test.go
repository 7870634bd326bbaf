//go:build unix

package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/mcp"
)

// soakMCP is a gateway in front of an MCP server of the older era that misbehaves like
// the plain one, with clients over HTTP, of both eras, and WebSocket. All of them use the
// same ids and progress tokens.
type soakMCP struct {
	victim
	gateway *gateway.Gateway
	url     string
	kinds   [3]struct{ answered, heard atomic.Int64 } // HTTP older and modern, WebSocket
	given   atomic.Int64                              // calls that were cancelled
	wrong   atomic.Int64                              // answers that were another's
}

func newSoakMCP(t *testing.T, program string) *soakMCP {
	t.Helper()
	s := &soakMCP{victim: victim{pid: filepath.Join(t.TempDir(), "pid")}}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
		Name: "load", Opener: s.child(program, "-mcp"), Isolation: gateway.Shared, Timeout: 2 * time.Second, BackoffMax: time.Second, BackoffStable: time.Millisecond,
	}}})
	require.NoError(t, err)
	s.gateway = g
	var o downstream.HTTPOptions
	o.WebSocket.MaxConnections, o.Limits.MaxConnections = 1<<10, 1<<10
	endpoint, err := downstream.NewEndpoint(g, o)
	require.NoError(t, err)
	server := httptest.NewServer(endpoint)
	s.url = server.URL
	t.Cleanup(func() {
		require.NoError(t, endpoint.Close())
		server.Close()
		require.NoError(t, g.Close())
	})
	return s
}

// echoCall calls the tool with a mark, and gives the text of the answer.
type echoCall func(ctx context.Context, message string, heard func()) (string, error)

// visit is one client that comes and goes, as those of the plain server do.
func (s *soakMCP) visit(ctx context.Context, n int) error {
	kind := n % len(s.kinds)
	var one echoCall
	var leave func() error
	var err error
	if kind == 2 {
		one, leave, err = s.overWebSocket(ctx)
	} else {
		one, leave, err = s.overHTTP(ctx, []client.Era{client.EraLegacy, client.EraModern}[kind])
	}
	if err != nil {
		if _, answered := errors.AsType[*codec.Error](err); answered {
			return nil // the server has just been killed: the gateway says so
		}
		return err
	}
	defer func() { _ = leave() }()
	var calls sync.WaitGroup
	for i := range 1 + rand.IntN(20) {
		calls.Go(func() {
			mine, cancel := context.WithCancel(ctx)
			defer cancel()
			if i%7 == 0 {
				defer time.AfterFunc(time.Duration(rand.IntN(5))*time.Millisecond, cancel).Stop()
			}
			mark := fmt.Sprintf("client %d, call %d", n, i)
			got, err := one(mine, mark, func() { s.kinds[kind].heard.Add(1) })
			switch {
			case err == nil && got != "Echo: "+mark:
				s.wrong.Add(1)
			case err == nil:
				s.kinds[kind].answered.Add(1)
			case mine.Err() != nil && ctx.Err() == nil:
				s.given.Add(1)
			}
		})
	}
	if n%2 == 0 {
		return nil // calls in flight end with the client
	}
	calls.Wait()
	return nil
}

func (s *soakMCP) overHTTP(ctx context.Context, era client.Era) (echoCall, func() error, error) {
	c, err := client.Connect(ctx, client.HTTP{Endpoint: s.url}, client.Options{Era: era, Eras: &client.Eras{}})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, message string, heard func()) (string, error) {
		r, err := c.CallTool(ctx, "echo", map[string]string{"message": message}, client.CallOptions{Progress: func(mcp.Progress) { heard() }})
		if err != nil {
			return "", err
		}
		return r.Content[0].Text, nil
	}, c.Close, nil
}

func (s *soakMCP) overWebSocket(ctx context.Context) (echoCall, func() error, error) {
	stream, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.url, "http"), websocket.DialOptions{})
	if err != nil {
		return nil, nil, err
	}
	c, err := stream.Conn(conn.Options{})
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.Call(ctx, "initialize", []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}`), conn.CallOptions{}); err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	return func(ctx context.Context, message string, heard func()) (string, error) {
		params := fmt.Sprintf(`{"name":"echo","arguments":{"message":%q}}`, message)
		text, err := c.Call(ctx, "tools/call", []byte(params), conn.CallOptions{Progress: func(conn.Progress) { heard() }})
		if err != nil {
			return "", err
		}
		var r struct {
			Content []struct{ Text string }
		}
		if err := json.Unmarshal(text, &r); err != nil || len(r.Content) != 1 {
			return "", fmt.Errorf("no content in %s: %w", text, err)
		}
		return r.Content[0].Text, nil
	}, c.Close, nil
}

// judge says what came of it, when all clients have gone.
func (s *soakMCP) judge(t *testing.T) {
	t.Helper()
	requireOver(t, s.gateway)
	for kind, name := range []string{"HTTP, older era", "HTTP, modern era", "WebSocket"} {
		k := &s.kinds[kind]
		t.Logf("%s: %d calls answered, %d reports of progress heard", name, k.answered.Load(), k.heard.Load())
		require.Positive(t, k.answered.Load(), name)
		require.Positive(t, k.heard.Load(), name)
	}
	st := s.gateway.Stats()
	t.Logf("MCP: %d kills, %d calls given up; %+v", s.kills, s.given.Load(), st)
	require.Zero(t, s.wrong.Load(), "answers that were another's")
	require.Positive(t, s.given.Load())
	require.Positive(t, st.Cancelled)
	require.Positive(t, s.kills)
}
