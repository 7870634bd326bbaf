package cluster_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/link"
)

// lease is long enough for a machine that is busy with other tests.
const lease = 6 * time.Second

func natsServer(t *testing.T, o embedded.Options) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// node is a gateway of a cluster, with what its child would be.
type node struct {
	*cluster.Node
	gateway *gateway.Gateway
	server  *fake.Server
}

// join starts a node. Its server is its own, so that a test sees whose is in use.
func join(t *testing.T, name string, o cluster.Options, u gateway.Upstream) *node {
	t.Helper()
	o.Node = name
	if o.Lease == 0 {
		o.Lease = lease
	}
	n, err := cluster.Join(t.Context(), o)
	require.NoError(t, err)
	server := &fake.Server{}
	u.Name, u.Opener = "files", n.Opener("files", server, cluster.WayOptions{})
	if u.Isolation == gateway.PerSession {
		u.Isolation = gateway.Shared
	}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}})
	require.NoError(t, err)
	out := &node{n, g, server}
	t.Cleanup(func() {
		out.leave()
		residue.Ended(t, g)
		require.Empty(t, n.Owned())
	})
	return out
}

func (n *node) leave() {
	_ = n.gateway.Close()
	_ = n.Close()
}

func (n *node) client(name string) *fake.Client {
	c := &fake.Client{Who: link.Peer{Transport: "test", Address: name}}
	c.Join(n.gateway.Join(c))
	return c
}

func tool(id int, mark string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"mark":%q},"_meta":{"progressToken":%d}}}`, id, mark, id)
}

// next waits for the next frame to a client, but not for ever.
func next(t *testing.T, c *fake.Client) string {
	t.Helper()
	return within(t, c.Next)
}

func nextRequest(t *testing.T, w *fake.Way) (id, frame string) {
	t.Helper()
	return within2(t, w.NextRequest)
}

// patience is for what takes milliseconds on a machine that is not busy.
const patience = 30 * time.Second

func within[T any](t *testing.T, f func() T) T {
	t.Helper()
	got := make(chan T, 1)
	go func() { got <- f() }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case v := <-got:
		return v
	case <-ctx.Done():
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

func within2[A, B any](t *testing.T, f func() (A, B)) (A, B) {
	t.Helper()
	type both struct {
		a A
		b B
	}
	v := within(t, func() both { a, b := f(); return both{a, b} })
	return v.a, v.b
}

// tick is the pause between two looks.
const tick = 5 * time.Millisecond

type fakeWay = fake.Way

// opener gives ways to the node's server without a gateway around them.
func (n *node) opener() link.Opener { return n.Opener("files", n.server, cluster.WayOptions{}) }

func answer(w *fakeWay, id, mark string) {
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"mark":"` + mark + `"}}`)
}

// requireEnds demands an answer for each call of the client whose node has the server, and
// an answer or the loss for each of the other one's, of which it counts the answers.
func requireEnds(t *testing.T, calls int, near, far *fake.Client) (answered int) {
	t.Helper()
	for range calls {
		require.Contains(t, next(t, near), `"mark":"near"`)
	}
	for range calls {
		if frame := next(t, far); strings.Contains(frame, `"mark":"far"`) {
			answered++
		} else {
			require.Contains(t, frame, `"code":-32003`)
		}
	}
	t.Logf("of the other node's %d calls %d were answered", calls, answered)
	return answered
}

// freePort finds a port that is free now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
