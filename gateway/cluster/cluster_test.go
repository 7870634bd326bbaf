package cluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
)

// Any node serves any client; the server lives on one. Equal ids and tokens of clients
// of three nodes reach their owners.
func TestAnyNodeServesOneServer(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	nodes := []*node{
		join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}),
		join(t, "b", cluster.Options{Server: s}, gateway.Upstream{}),
		join(t, "c", cluster.Options{Server: s}, gateway.Upstream{}),
	}
	first := nodes[0].client("first")
	require.NoError(t, first.Say(tool(1, "first")))
	way := nodes[0].server.Way(0)
	id, frame := nextRequest(t, way)
	require.Contains(t, frame, `"mark":"first"`)
	way.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"mark":"first"}}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"mark":"first"}}`, next(t, first))

	for i, n := range nodes {
		c := n.client("another")
		mark := fmt.Sprint("mark ", i)
		require.NoError(t, c.Say(tool(1, mark)))
		id, frame := nextRequest(t, way)
		require.Contains(t, frame, mark)
		way.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + id + `,"progress":1,"message":"` + mark + `"}}`)
		way.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"mark":"` + mark + `"}}`)
		require.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"`+mark+`"}}`, next(t, c))
		require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"mark":"`+mark+`"}}`, next(t, c))
	}
	require.Equal(t, 1, nodes[0].server.Opened())
	require.Zero(t, nodes[1].server.Opened()+nodes[2].server.Opened())
	owned := nodes[0].Owned()
	require.Len(t, owned, 1)
	require.Equal(t, "files", owned[0].Upstream)
	require.Equal(t, 3, owned[0].Nodes)
}

// A cancel of a client at another node stops its call and no other.
func TestCancelCrossesNodes(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s}, gateway.Upstream{})
	near, far := a.client("near"), b.client("far")
	require.NoError(t, near.Say(tool(7, "near")))
	way := a.server.Way(0)
	nearID, _ := nextRequest(t, way)
	require.NoError(t, far.Say(tool(7, "far")))
	farID, _ := nextRequest(t, way)
	require.NoError(t, far.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"no longer"}}`))
	require.Eventually(t, func() bool { return len(way.Cancels()) == 1 }, patience, tick)
	require.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+farID+`,"reason":"no longer"}}`, way.Cancels()[0].Note)
	way.Say(`{"jsonrpc":"2.0","id":` + farID + `,"result":{}}`) // late
	way.Say(`{"jsonrpc":"2.0","id":` + nearID + `,"result":{"mark":"near"}}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":{"mark":"near"}}`, next(t, near))
	require.Empty(t, far.Unread())
}

// A message longer than the server takes goes in parts, both ways.
func TestLongMessagesGoInParts(t *testing.T) {
	s := natsServer(t, embedded.Options{MaxPayload: 8 << 10})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s, MaxPayload: 5000}, gateway.Upstream{})
	first := a.client("first")
	require.NoError(t, first.Say(tool(1, "first")))
	way := a.server.Way(0)
	_, _ = nextRequest(t, way)
	c := b.client("far")
	long := strings.Repeat("0123456789", 50_000)
	require.NoError(t, c.Say(tool(2, long)))
	id, frame := nextRequest(t, way)
	require.Contains(t, frame, long)
	way.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"mark":"` + long + `"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{"mark":"`+long+`"}}`, next(t, c))
}

// What is longer than nodes may send each other fails its call, and no other.
func TestTooLongIsRefused(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s, MaxFrame: 10_000}, gateway.Upstream{})
	require.NoError(t, a.client("first").Say(tool(1, "first")))
	way := a.server.Way(0)
	_, _ = nextRequest(t, way)
	c := b.client("far")
	require.NoError(t, c.Say(tool(1, "short")))
	id, _ := nextRequest(t, way)
	require.NoError(t, c.Say(tool(2, strings.Repeat("x", 10_000))))
	refusal := next(t, c)
	require.Contains(t, refusal, `"id":2,"error":`)
	require.Contains(t, refusal, "10000 are allowed between nodes")
	way.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, next(t, c))
}

// Ways of an identity are shared among nodes as well, and apart from each other.
func TestIdentitiesHaveWaysOfTheirOwn(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{Isolation: gateway.PerIdentity})
	b := join(t, "b", cluster.Options{Server: s}, gateway.Upstream{Isolation: gateway.PerIdentity})
	as := func(n *node, who string) {
		c := &fake.Client{Who: link.Peer{Transport: "test", Address: who, Identity: who}}
		c.Join(n.gateway.Join(c))
		require.NoError(t, c.Say(tool(1, who)))
	}
	as(a, "ann")
	ann := a.server.Way(0)
	require.Equal(t, link.Key{Identity: "ann"}, ann.Key)
	_, frame := nextRequest(t, ann)
	require.Contains(t, frame, "ann")
	as(b, "bob")
	_, frame = nextRequest(t, b.server.Way(0))
	require.Contains(t, frame, "bob")
	as(b, "ann")
	_, frame = nextRequest(t, ann)
	require.Contains(t, frame, "ann")
	require.Equal(t, 1, b.server.Opened())
}

// A session's way is opened at the node of the session.
func TestSessionsStayWhereTheyAre(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	n := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{})
	way := n.Opener("files", n.server, cluster.WayOptions{})
	_, err := way.Open(t.Context(), nil, link.Key{Session: "#1"})
	require.NoError(t, err)
	require.Empty(t, n.Owned())
	require.Equal(t, "fake", way.String())
}

// A server that cannot be opened says why at every node, as its own would.
func TestAServerThatDoesNotOpen(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s}, gateway.Upstream{})
	for _, n := range []*node{a, b} {
		n.server.Fail = func(int) error { return fmt.Errorf("no such program") }
		c := n.client("c")
		require.NoError(t, c.Say(tool(1, "x")))
		refusal := next(t, c)
		require.Contains(t, refusal, `"code":-32003`)
		require.Contains(t, refusal, "no such program")
	}
}

// The last node that uses a server ends it, and another may own it at once.
func TestWhoLeavesGivesTheLeaseUp(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s}, gateway.Upstream{})
	require.NoError(t, a.client("near").Say(tool(1, "near")))
	_, _ = nextRequest(t, a.server.Way(0))
	far := b.client("far")
	require.NoError(t, far.Say(tool(1, "far")))
	_, _ = nextRequest(t, a.server.Way(0))
	a.leave()
	lost := next(t, far)
	require.Contains(t, lost, `"code":-32003`)
	require.Contains(t, lost, `node \"a\"`)
	require.Contains(t, lost, "shut down")
	require.NoError(t, far.Say(tool(2, "again")))
	id, _ := nextRequest(t, b.server.Way(0))
	b.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, next(t, far))
}
