package upstream_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/mcp"
)

// Real clients of both eras in front of a real server over HTTP, all with the same ids
// and tokens at the same time: every answer and every report of progress is its
// owner's.
func TestCrowdOverHTTP(t *testing.T) {
	chain := chained(t, httptest.NewServer(greeter(t)), nil)
	var crowd sync.WaitGroup
	for n := range 10 {
		crowd.Go(func() {
			era := client.EraModern
			if n%2 == 1 {
				era = client.EraLegacy
			}
			c, err := client.Connect(t.Context(), client.HTTP{Endpoint: chain.address, Header: http.Header{}}, client.Options{Era: era, Eras: &client.Eras{}})
			if err != nil {
				t.Error(n, err)
				return
			}
			defer func() { _ = c.Close() }()
			for k := range 20 {
				mark := fmt.Sprintf("%d/%d/%d", n, k, rand.Int())
				heard := ""
				r, err := c.CallTool(t.Context(), "greet", map[string]string{"name": mark}, client.CallOptions{Progress: func(p mcp.Progress) { heard = p.Message }})
				if err != nil || r.Content[0].Text != "Hello, "+mark || heard != mark {
					t.Error(n, k, err, r, heard)
				}
			}
		})
	}
	crowd.Wait()
	s := chain.g.Stats()
	require.Equal(t, s.Requests, s.Answered)
	require.Zero(t, s.Dropped[gateway.LateAnswer]+s.Dropped[gateway.UnknownAnswer])
}
