package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// A client of the older era before a server of the older era gets what the server wrote,
// errors speak of the upstream by the name that it has in the configuration, and what the
// server says to nobody is told, no matter at which node the client and the server are.
func TestAServerElsewhereIsAsOneHere(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	dropped := make(chan gateway.Reason, 8)
	var nodes []*cluster.Node
	var gateways []*gateway.Gateway
	server := &fake.Server{}
	for _, name := range []string{"a", "b"} {
		n, err := cluster.Join(t.Context(), cluster.Options{Server: s, Node: name, Lease: lease})
		require.NoError(t, err)
		g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
			Name: "files", Isolation: gateway.Shared,
			Opener: n.Opener("files@1f", server, cluster.WayOptions{Name: "files", Dropped: func(r gateway.Reason) { dropped <- r }}),
		}}})
		require.NoError(t, err)
		nodes, gateways = append(nodes, n), append(gateways, g)
	}
	defer func() {
		for i := range nodes {
			_ = gateways[i].Close()
			_ = nodes[i].Close()
		}
	}()
	for i, g := range gateways {
		c := &fake.Client{}
		c.Join(g.Join(c))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
		require.Contains(t, next(t, c), `"protocolVersion":"2025-11-25"`)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))

		require.NoError(t, c.Say(tool(1, "same")))
		way := server.Way(0)
		id, _ := nextRequest(t, way)
		answer := `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[],  "n":1e400}}`
		way.Say(answer)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[],  "n":1e400}}`, next(t, c), "client %d", i)
		way.Say(answer)
		require.Equal(t, gateway.LateAnswer, within(t, func() gateway.Reason { return <-dropped }))

		require.NoError(t, c.Say(tool(2, "unreadable")))
		id, _ = nextRequest(t, way)
		way.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"a":1,"a":}}`)
		require.Equal(t, gateway.UnreadableServer, within(t, func() gateway.Reason { return <-dropped }))
		got := next(t, c)
		require.Contains(t, got, `upstream \"files\"`)
		require.NotContains(t, got, "files@1f")
		require.EqualValues(t, 1, g.Stats().Lost, "by its cause, as where the server is")
	}
}
