package node

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/link"
)

// embeddedURL stands for a NATS server in this process.
const embeddedURL = "embedded"

// membership is the node's place in a cluster, if it has one. It is joined by Run, so
// that to build a node opens nothing.
type membership struct {
	o     cluster.Options
	alone bool // with a server of its own
	// gateway counts what servers here say to nobody; nil before it is built.
	gateway atomic.Pointer[gateway.Gateway]
	joined  chan struct{}

	mu     sync.Mutex // guards the fields below
	node   *cluster.Node
	server *embedded.Server
}

func membershipOf(c *config.Config) *membership {
	k := c.Cluster
	if k == nil {
		return nil
	}
	host, _ := os.Hostname() // "" is a random name
	m := &membership{joined: make(chan struct{}), alone: k.URL == embeddedURL}
	m.o = cluster.Options{
		URL: k.URL, Node: cmp.Or(k.Node, host), Prefix: "correlator." + cmp.Or(k.Name, "gateway"), Lease: k.Lease, Replicas: k.Replicas, Credentials: k.Credentials,
	}
	if k.TLS != nil {
		m.o.CAFile, m.o.CertFile, m.o.KeyFile = k.TLS.CA, k.TLS.Cert, k.TLS.Key
	}
	return m
}

// join connects to NATS. Nil is in no cluster.
func (m *membership) join(ctx context.Context) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.o
	if m.alone {
		server, err := embedded.Start(embedded.Options{})
		if err != nil {
			return err
		}
		m.server, o.Server, o.URL = server, server, ""
	}
	node, err := cluster.Join(ctx, o)
	if err != nil {
		if m.server != nil {
			err = errors.Join(err, m.server.Close())
		}
		return err
	}
	m.node = node
	close(m.joined)
	return nil
}

// yield has other nodes keep new calls to servers here until these live elsewhere.
func (m *membership) yield() {
	if n := m.get(); n != nil {
		n.Yield()
	}
}

// drain lets the calls that other nodes have at servers here end.
func (m *membership) drain(ctx context.Context) {
	if n := m.get(); n != nil {
		_ = n.Drain(ctx) // what is left is ended by leave
	}
}

// leave ends the servers that live here and gives their leases up.
func (m *membership) leave() {
	n := m.get()
	if n == nil {
		return
	}
	_ = n.Close()
	if m.server != nil {
		_ = m.server.Close()
	}
}

func (m *membership) get() *cluster.Node {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node
}

// opener is that of a child process that lives on one node of the cluster. Nodes share
// it if they start it in the same way: when its part of the file is changed, what it
// was goes on for as long as somebody uses it.
func (m *membership) opener(name string, u *config.Upstream, child link.Opener) link.Opener {
	if m == nil {
		return child
	}
	what, _ := json.Marshal([]any{u.Command, u.Env, u.Dir, u.Protocol}) // strings only
	sum := sha256.Sum256(what)
	return &clustered{m: m, name: name + "@" + hex.EncodeToString(sum[:4]), child: child, o: cluster.WayOptions{
		Name: name, Dropped: func(r gateway.Reason) { m.dropped(name, r) }, Plain: u.Protocol == "jsonrpc", OpenTimeout: u.OpenTimeout,
	}}
}

func (m *membership) dropped(upstream string, r gateway.Reason) {
	if g := m.gateway.Load(); g != nil {
		g.NoteDropped(upstream, r)
	}
}

type clustered struct {
	m     *membership
	name  string
	child link.Opener
	o     cluster.WayOptions
}

func (c *clustered) String() string { return c.child.String() }

// Open implements link.Opener. Clients come when the cluster is joined, and not before.
func (c *clustered) Open(ctx context.Context, owner link.Owner, k link.Key) (link.Upstream, error) {
	select {
	case <-c.m.joined:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return c.m.get().Opener(c.name, c.child, c.o).Open(ctx, owner, k)
}
