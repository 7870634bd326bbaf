package upstream_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/upstream"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// greeter is a real server of both eras, whose tool reports progress.
func greeter(t *testing.T, revisions ...mcp.Revision) http.Handler {
	t.Helper()
	type in struct {
		Name string `json:"name"`
	}
	d, err := mcp.NewServer(mcp.Description{
		Info: mcp.Implementation{Name: "greeter", Version: "1"}, Revisions: revisions,
		Tools: []mcp.ServerTool{mcp.NewTool(mcp.Tool{Name: "greet"}, func(ctx context.Context, r *mcp.Request, in in) (string, error) {
			if err := r.Report(ctx, mcp.Progress{Value: 1, Message: in.Name}); err != nil {
				return "", err
			}
			return "Hello, " + in.Name, nil
		})},
	})
	require.NoError(t, err)
	s, err := serve.New(d, serve.Options{})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	h, err := s.HTTP(serve.HTTPOptions{})
	require.NoError(t, err)
	return h
}

// chain is a gateway with HTTP on both of its sides.
type chain struct {
	g       *gateway.Gateway
	front   *downstream.Endpoint
	web     *httptest.Server
	behind  *httptest.Server
	address string // of its front
}

// chained puts a gateway before a server, which gets its requests with header. The
// chain ends with the test.
func chained(t *testing.T, behind *httptest.Server, header http.Header) *chain {
	t.Helper()
	c := &chain{behind: behind}
	opener, err := upstream.HTTP(client.HTTP{Endpoint: behind.URL, Header: header, Goodbye: -1}, upstream.HTTPOptions{})
	require.NoError(t, err)
	c.g = over(t, opener, gateway.Upstream{Isolation: gateway.Shared}, gateway.Options{})
	c.front, err = downstream.NewEndpoint(c.g, downstream.HTTPOptions{})
	require.NoError(t, err)
	c.web = httptest.NewServer(c.front)
	c.address = c.web.URL
	t.Cleanup(c.close)
	return c
}

// close ends the chain from the front to the back: a server waits for its streams. It
// may be called again.
func (c *chain) close() {
	_ = c.front.Close()
	_ = c.g.Close()
	c.web.Close()
	c.behind.Close()
}

// Real clients of either era over HTTP, a real server of the same, and what the
// clients show to the gateway: none of that goes any further.
func TestClientsTokenGoesNoFurther(t *testing.T) {
	for name, era := range map[string]struct {
		client    client.Era
		revisions []mcp.Revision
	}{
		"modern":           {client.EraModern, []mcp.Revision{mcp.Modern}},
		"older":            {client.EraLegacy, []mcp.Revision{mcp.NewestLegacy}},
		"modern, of both":  {client.EraModern, nil},
		"older, of both":   {client.EraLegacy, nil},
		"finding out, too": {client.EraAuto, nil},
	} {
		t.Run(name, func(t *testing.T) {
			handler := greeter(t, era.revisions...)
			var mu sync.Mutex // guards what follows
			var leaks []string
			seen := 0
			behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen++
				for header, values := range r.Header {
					if strings.Contains(strings.Join(values, " "), "secret") {
						leaks = append(leaks, header)
					}
				}
				if r.Header.Get("Authorization") != "Bearer own" {
					leaks = append(leaks, "Authorization")
				}
				mu.Unlock()
				handler.ServeHTTP(w, r)
			}))
			chain := chained(t, behind, http.Header{"Authorization": {"Bearer own"}})

			secrets := http.Header{"Authorization": {"Bearer secret"}, "Cookie": {"a=secret"}, "X-Own": {"secret"}, "Proxy-Authorization": {"secret"}}
			c, err := client.Connect(t.Context(), client.HTTP{Endpoint: chain.address, Header: secrets}, client.Options{Era: era.client, Eras: &client.Eras{}})
			require.NoError(t, err)
			defer func() { _ = c.Close() }()
			require.Equal(t, "greeter", c.ServerInfo().Name)
			var heard []string
			result, err := c.CallTool(t.Context(), "greet", map[string]string{"name": "Ada"}, client.CallOptions{
				Progress: func(p mcp.Progress) { heard = append(heard, p.Message) },
			})
			require.NoError(t, err)
			require.Equal(t, "Hello, Ada", result.Content[0].Text)
			require.Equal(t, []string{"Ada"}, heard)
			require.NoError(t, c.Close())
			chain.close()
			require.Empty(t, leaks)
			require.Positive(t, seen)
		})
	}
}
