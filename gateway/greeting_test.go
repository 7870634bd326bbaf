package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
)

const (
	modernHello = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"instructions":"be kind","resultType":"complete","ttlMs":0,"cacheScope":"private",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"2"}}}`
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
)

// greets is a fake server and how often it was asked for what.
type greets struct {
	*fake.Server
	asked []string
}

// greeting makes a gateway over a server, whose handshake is counted.
func greeting(t *testing.T, u gateway.Upstream, server *fake.Server) (*gateway.Gateway, *greets) {
	t.Helper()
	counted := &greets{Server: server}
	server.Asked = func(method string) { counted.asked = append(counted.asked, method) }
	u.Name, u.Opener = "tools", server
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}, Random: func() float64 { return 1 }})
	require.NoError(t, err)
	over(t, g)
	return g, counted
}

func initialize(revision string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
}

// A server of the older era is asked once whether it is modern, and each client that
// initializes is answered from the one handshake, in a revision that both know.
func TestGreetOlderOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := greeting(t, shared(), &fake.Server{})
		for asked, want := range map[string]string{
			"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2030-01-01": "2025-11-25", "2024-11-05": "2025-11-25",
		} {
			c, _ := join(g)
			require.NoError(t, c.Say(initialize(asked)))
			require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":`+strings.ReplaceAll(fake.Hello, "2025-11-25", want)+`}`, c.Next(), asked)
		}
		require.Equal(t, []string{"server/discover", "initialize", "notifications/initialized"}, server.asked)
		// It went and comes back: nobody asks for its era again.
		server.Way(0).Die(nil)
		server.Way(1)
		synctest.Wait()
		require.Equal(t, []string{"initialize", "notifications/initialized"}, server.asked[3:])
	})
}

// A server that is modern has no handshake of the older era unless a client wants one.
func TestGreetModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := greeting(t, shared(), &fake.Server{Discover: modernHello, Initialize: "-"})
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{`+modernMeta+`}}`))
		require.Equal(t, `{"jsonrpc":"2.0","id":"d","result":`+modernHello+`}`, c.Next())
		require.Equal(t, []string{"server/discover"}, server.asked)

		// Two clients of the older era: the server is asked once, and refuses.
		a, _ := join(g)
		b, _ := join(g)
		for _, c := range []*fake.Client{a, b} {
			require.NoError(t, c.Say(initialize("2025-06-18")))
			var m struct {
				Result struct {
					ProtocolVersion string
					Capabilities    map[string]any
					ServerInfo      struct{ Name string }
					Instructions    string
				}
			}
			require.NoError(t, json.Unmarshal([]byte(c.Next()), &m))
			require.Equal(t, "2025-06-18", m.Result.ProtocolVersion)
			require.Contains(t, m.Result.Capabilities, "tools")
			require.Equal(t, "new", m.Result.ServerInfo.Name)
			require.Equal(t, "be kind", m.Result.Instructions)
		}
		require.Equal(t, []string{"server/discover"}, server.asked, "it might give up the one era for the other")
	})
}

// A server of both eras whose calls have streams of their own gets both handshakes, each
// once for each way, and again when it was lost.
func TestGreetBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := greeting(t, shared(), &fake.Server{Discover: modernHello, Streams: true})
		c, _ := join(g)
		for range 3 {
			require.NoError(t, c.Say(initialize("2025-11-25")))
			require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":`+fake.Hello+`}`, c.Next())
		}
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{`+modernMeta+`}}`))
		require.Equal(t, `{"jsonrpc":"2.0","id":"d","result":`+modernHello+`}`, c.Next())
		both := []string{"server/discover", "initialize", "notifications/initialized"}
		require.Equal(t, both, server.asked)
		server.Way(0).Die(nil)
		server.Way(1)
		synctest.Wait()
		require.Equal(t, both, server.asked[3:])
	})
}

// A modern client of an older server is told what it has in the modern way.
func TestDiscoverOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := greeting(t, shared(), &fake.Server{})
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+modernMeta+`}}`))
		require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},"resultType":"complete","ttlMs":0,"cacheScope":"private",
			"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1"}}}}`, c.Next())
		require.Equal(t, []string{"server/discover", "initialize", "notifications/initialized"}, server.asked)
	})
}

// What is wrong with a discover is the server's to say.
func TestDiscoverIsPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := greeting(t, shared(), &fake.Server{Discover: modernHello})
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		c.Next()
		require.Equal(t, []string{"server/discover", "server/discover"}, server.asked)
	})
}

// A server that leaves what it does not know unanswered is asked for its era once, for
// as long as is said, however many ways to it there are.
func TestGreetSilentAboutEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{Discover: "?"}
		g, counted := greeting(t, gateway.Upstream{ProbeTimeout: 3 * time.Second}, server)
		server.Answers = true
		begun := time.Now()
		for range 4 {
			c, _ := join(g)
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
			require.Contains(t, c.Next(), `"result"`)
		}
		require.Equal(t, 3*time.Second, time.Since(begun))
		require.Equal(t, "server/discover", counted.asked[0])
		require.NotContains(t, counted.asked[1:], "server/discover")
		require.Equal(t, 4, server.Opened())
	})
}

// A server that exits when the first thing it gets is no initialize is started again,
// and nobody is told.
func TestGreetDiesOfQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := greeting(t, shared(), &fake.Server{Discover: "!"})
		c, _ := join(g)
		require.NoError(t, c.Say(initialize("2025-11-25")))
		require.Contains(t, c.Next(), `"fake"`)
		require.Equal(t, 2, server.Opened())
		require.Equal(t, []string{"server/discover", "initialize", "notifications/initialized"}, server.asked)
		require.EqualValues(t, 0, g.Stats().OpenFailed)
	})
}

// The client of a way of its own speaks for itself in the handshake.
func TestGreetSpeaksForItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{}
		g, _ := greeting(t, gateway.Upstream{}, server)
		var said []string
		server.Said = func(frame string) { said = append(said, frame) }
		c := &fake.Client{Who: link.Peer{Transport: "fake"}}
		c.Join(g.Join(c))
		own := `{"protocolVersion":"2025-06-18", "capabilities":{"sampling":{}},"clientInfo":{"name":"own","version":"9"}}`
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+own+`}`))
		c.Next()
		require.Contains(t, said[0], own)
		require.Len(t, said, 2)
	})
}

// The client of a way of its own decides between the eras of a server that has both; one
// that is modern alone is asked what it has after all.
func TestGreetInTheErasOfItsClient(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server := &fake.Server{Discover: modernHello}
			want, name := []string{"initialize", "notifications/initialized"}, "fake"
			if refuses {
				server.Initialize = "-"
				want, name = []string{"initialize", "server/discover"}, "new"
			}
			g, counted := greeting(t, gateway.Upstream{}, server)
			c, _ := join(g)
			for range 2 {
				require.NoError(t, c.Say(initialize("2025-06-18")))
				require.Contains(t, c.Next(), `"serverInfo":{"name":"`+name+`"`)
			}
			require.Equal(t, want, counted.asked)
			modern, _ := join(g)
			counted.asked = nil
			require.NoError(t, modern.Say(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+modernMeta+`}}`))
			require.Contains(t, modern.Next(), `"name":"new"`)
			require.Equal(t, []string{"server/discover"}, counted.asked)
		})
	}
}

// Look-alikes of what the handshake reads are other members.
func TestC05GreetingLookAlikes(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = older
	c, _ := join(g)
	require.Contains(t, ask(t, c, "1", "initialize", `{"protocolVersion":"2025-06-18","ProtocolVersion":"2025-03-26","capabilities":{}}`), `"protocolVersion":"2025-06-18"`)
}
