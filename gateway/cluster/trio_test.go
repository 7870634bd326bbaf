package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/internal/residue"
)

// Three NATS servers that are one cluster, and three nodes, each with a server of its own
// to go to first. A client at any node reaches the child, which lives on one. One NATS
// server is killed with calls in flight: the one that the child's node is connected to,
// and that leads those that keep the leases. Each call ends, the child goes on under its
// lease, which is renewed, and calls go through from every node afterwards.
func TestOneOfThreeNATSServersIsKilled(t *testing.T) {
	servers := trio(t)
	const longLease = 20 * time.Second // longer than servers take to agree anew, on a machine that is busy
	scout := join(t, "scout", cluster.Options{URL: servers[0].ClientURL(), Lease: longLease}, gateway.Upstream{})
	scout.leave()
	for i, s := range servers {
		if s.Name() == leases(t, servers[0].ClientURL()).Cluster.Leader {
			servers[0], servers[i] = s, servers[0]
			break
		}
	}
	var nodes [3]*node
	for i, s := range servers {
		nodes[i] = join(t, fmt.Sprint("node-", i), cluster.Options{URL: s.ClientURL(), Lease: longLease}, gateway.Upstream{Timeout: patience})
	}
	require.Equal(t, 3, leases(t, servers[1].ClientURL()).Config.Replicas, "nobody had to say so")
	owner := nodes[0]
	way := (*fakeWay)(nil)
	everywhere := func(id int) {
		for _, n := range nodes {
			c := n.client(n.Name())
			require.NoError(t, c.Say(tool(id, n.Name())))
			if way == nil {
				way = owner.server.Way(0)
			}
			wire, frame := nextRequest(t, way)
			require.Contains(t, frame, n.Name())
			answer(way, wire, n.Name())
			require.Contains(t, next(t, c), `"mark":"`+n.Name()+`"`)
			c.End(nil)
		}
	}
	everywhere(1)

	const calls = 100
	near, far := owner.client("near"), nodes[1].client("far")
	var wires []string
	for i := range calls {
		require.NoError(t, near.Say(tool(i, "near")))
		id, _ := nextRequest(t, way)
		wires = append(wires, id)
		require.NoError(t, far.Say(tool(i, "far")))
		id, _ = nextRequest(t, way)
		wires = append(wires, id)
	}
	renewed := leases(t, servers[1].ClientURL()).State.LastSeq
	stop(servers[0])
	for i, id := range wires {
		answer(way, id, []string{"near", "far"}[i%2])
	}
	requireEnds(t, calls, near, far)
	require.Eventually(t, owner.Connected, patience, tick)
	everywhere(2)
	require.Eventually(t, func() bool { return leases(t, servers[1].ClientURL()).State.LastSeq > renewed }, patience, 100*time.Millisecond, "the lease is kept")
	for _, n := range nodes {
		residue.Calls(t, n.gateway)
	}
	require.Equal(t, 1, nodes[0].server.Opened()+nodes[1].server.Opened()+nodes[2].server.Opened(), "it lived on")
	require.False(t, way.Ended())
}

// leases is what a server says of those that keep the leases.
func leases(t *testing.T, url string) *jetstream.StreamInfo {
	t.Helper()
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	var info *jetstream.StreamInfo
	require.Eventually(t, func() bool { // while they choose a leader nobody answers
		stream, err := js.Stream(t.Context(), "KV_correlator-gateway-leases")
		if err == nil {
			info = stream.CachedInfo()
		}
		return err == nil && (info.Cluster == nil || info.Cluster.Leader != "")
	}, patience, tick)
	return info
}

// Where one NATS server is alone it keeps the leases by itself, and is not asked for more.
func TestOneNATSServerAlone(t *testing.T) {
	s := outside(t, server.Options{})
	join(t, "a", cluster.Options{URL: s.ClientURL()}, gateway.Upstream{})
	require.Equal(t, 1, leases(t, s.ClientURL()).Config.Replicas)
	_, err := cluster.Join(t.Context(), cluster.Options{URL: s.ClientURL(), Prefix: "another", Replicas: 3, Lease: lease})
	require.ErrorContains(t, err, "replicas > 1 not supported in non-clustered mode")
	require.ErrorContains(t, err, s.ClientURL())
}
