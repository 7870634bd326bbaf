package interop

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

func (w *workshop) abilities() abilities {
	return abilities{
		server: "workshop",
		double: func(i int) (toolCall, string) { return toolCall{"double", numbered{N: i}}, fmt.Sprint(2 * i) },
		steps:  toolCall{"steps", numbered{N: 20}}, stepsEnd: 20,
		long: toolCall{"linger", numbered{}}, heard: w.held,
		watch:   mcp.ListenFilter{ResourceSubscriptions: []string{memo}},
		change:  toolCall{"touch", numbered{}},
		changed: mcp.Notification{Kind: mcp.ResourceUpdated, URI: memo},
	}
}

// Our client on the server of go-sdk, in both eras, over a stream and HTTP.
func TestClientOnGoSDKServer(t *testing.T) {
	for _, try := range []struct {
		name string
		era  client.Era
		want mcp.Revision
	}{
		{"auto", client.EraAuto, "2026-07-28"},
		{"modern", client.EraModern, "2026-07-28"},
		{"older", client.EraLegacy, "2025-11-25"},
	} {
		t.Run(try.name+" stream", func(t *testing.T) {
			w := newWorkshop()
			exercise(t, client.Stream(w.serve(t)), client.Options{Era: try.era}, try.want, w.abilities())
		})
		t.Run(try.name+" stdio", func(t *testing.T) {
			a := newWorkshop().abilities()
			a.heard = nil // it stays in the child
			child := conn.Command{Path: os.Args[0], Env: append(os.Environ(), serveEnv+"=1")}
			exercise(t, client.Command(child), client.Options{Era: try.era}, try.want, a)
		})
		t.Run(try.name+" HTTP", func(t *testing.T) {
			w := newWorkshop()
			// Its handler serves the modern era only without sessions.
			o := &gosdk.StreamableHTTPOptions{Stateless: try.want == "2026-07-28", PropagateRequestCancellation: true}
			web := httptest.NewServer(gosdk.NewStreamableHTTPHandler(func(*http.Request) *gosdk.Server { return w.server }, o))
			t.Cleanup(web.Close)
			exercise(t, client.HTTP{Endpoint: web.URL}, client.Options{Era: try.era}, try.want, w.abilities())
		})
	}
	t.Run("auto HTTP with sessions", func(t *testing.T) {
		// It has discover, names older revisions alone, and refuses modern calls.
		w := newWorkshop()
		web := httptest.NewServer(gosdk.NewStreamableHTTPHandler(func(*http.Request) *gosdk.Server { return w.server }, nil))
		t.Cleanup(web.Close)
		exercise(t, client.HTTP{Endpoint: web.URL}, client.Options{}, "2025-11-25", w.abilities())
	})
}
