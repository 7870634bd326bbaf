package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Node is one gateway of a cluster. All methods are safe for concurrent use.
type Node struct {
	o     Options
	id    string // of this life of the node
	nc    *nats.Conn
	kv    jetstream.KeyValue
	out   *outbox
	calls *nats.Subscription // to whom ways are attached

	reconnected atomic.Int64 // when, in nanoseconds since begun
	begun       time.Time

	mu    sync.Mutex // guards the fields below
	hosts map[string]*host
	pipes map[*pipe]struct{}
	// draining says that no way is taken over any more, closed that none is open.
	draining, closed bool

	stop chan struct{} // closed by Close
	work sync.WaitGroup
}

// Join connects a node to its cluster. The error is an *OptionError, or what NATS says.
// ctx bounds the start only; Close ends the node.
func Join(ctx context.Context, o Options) (*Node, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Node{o: o, id: random(), begun: time.Now(), hosts: make(map[string]*host), pipes: make(map[*pipe]struct{}), stop: make(chan struct{})}
	if n.nc, err = n.connect(); err != nil {
		return nil, fmt.Errorf("cluster: NATS at %s: %w", redact(o.URL), err)
	}
	if n.o.Replicas == 0 {
		n.o.Replicas = n.replicas()
	}
	n.out = newOutbox(n.nc, o.settle())
	if err = n.enter(ctx); err != nil {
		n.out.close()
		n.nc.Close()
		return nil, err
	}
	n.work.Go(n.beats)
	return n, nil
}

func (n *Node) connect() (*nats.Conn, error) {
	o := &n.o
	options := []nats.Option{
		nats.Name("correlator-gateway " + o.Node), nats.CustomInboxPrefix(o.Prefix + ".inbox"),
		// Credentials that are refused may be renewed in their file.
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(reconnectWait, reconnectWait),
		// A host that is cut off is to notice it in the time of a lease.
		nats.PingInterval(o.Lease / 4), nats.MaxPingsOutstanding(2), nats.Timeout(o.Lease), nats.FlusherTimeout(o.Lease),
		nats.ReconnectHandler(func(*nats.Conn) { n.reconnected.Store(int64(time.Since(n.begun))) }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // what is lost is noticed by its number
	}
	if o.Server != nil {
		options = append(options, nats.InProcessServer(o.Server))
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.Token != "" {
		options = append(options, nats.Token(o.Token))
	}
	if o.User != "" {
		options = append(options, nats.UserInfo(o.User, o.Password))
	}
	if o.CAFile != "" {
		options = append(options, nats.RootCAs(o.CAFile))
	}
	if o.CertFile != "" {
		options = append(options, nats.ClientCert(o.CertFile, o.KeyFile))
	}
	return nats.Connect(o.URL, options...)
}

// replicas is how many servers keep the leases where nobody has said it: of a NATS
// cluster as many as outlive the loss of one.
func (n *Node) replicas() int {
	if n.nc.ConnectedClusterName() == "" {
		return 1
	}
	return clusterReplicas
}

// reconnectWait is the pause between two tries to reach NATS again.
const reconnectWait = 100 * time.Millisecond

// startTimeout bounds the start where ctx does not.
const startTimeout = 10 * time.Second

// enter finds the bucket of the leases and begins to listen.
func (n *Node) enter(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if n.nc.MaxPayload() < minPayload {
		return &OptionError{"URL", fmt.Sprintf("the server takes messages of %d bytes, and %d are needed", n.nc.MaxPayload(), minPayload)}
	}
	js, err := jetstream.New(n.nc)
	if err != nil {
		return fmt.Errorf("cluster: NATS at %s: %w", redact(n.o.URL), err)
	}
	if n.kv, err = bucket(ctx, js, &n.o); err != nil {
		return err
	}
	if n.calls, err = n.nc.Subscribe(n.subject(n.id), n.attach); err != nil {
		return fmt.Errorf("cluster: NATS at %s: %w", redact(n.o.URL), err)
	}
	if err := n.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("cluster: NATS at %s: %w", redact(n.o.URL), err)
	}
	return nil
}

// subject is where the node of that id takes requests.
func (n *Node) subject(id string) string { return n.o.Prefix + ".node." + id }

// Name is what the node is called.
func (n *Node) Name() string { return n.o.Node }

// Connected reports whether NATS can be reached.
func (n *Node) Connected() bool { return n.nc.IsConnected() }

// Owned is one way to a server that lives on this node.
type Owned struct {
	// Upstream is its name, Identity whose it is alone, if it is.
	Upstream, Identity string
	// Nodes is how many ways lead to it, this node's own included.
	Nodes int
	// Since is when the lease was taken.
	Since time.Time
}

// Owned lists what lives on this node, in no order.
func (n *Node) Owned() []Owned {
	hosts := n.here()
	out := make([]Owned, 0, len(hosts))
	for _, h := range hosts {
		out = append(out, Owned{h.upstream, h.key.Identity, h.count(), h.lease.since})
	}
	return out
}

// Yield has other nodes keep new calls to the servers that live here until these live
// elsewhere. Such calls wait, as for a server that does not read, and count against
// nothing but the time that they may wait. Calls that are in flight go on. It does not
// wait; Drain follows.
func (n *Node) Yield() {
	for _, h := range n.here() {
		h.yield()
	}
}

// Drain takes no way over any more, has other nodes keep new calls to the servers that
// live here, as Yield does, and ends each of them when the calls that it has are over:
// other nodes then start it anew, and the calls that they kept go there. It returns when
// all are, or when ctx ends, whose cause it then gives. Close follows.
func (n *Node) Drain(ctx context.Context) error {
	n.mu.Lock()
	n.draining = true
	n.mu.Unlock()
	n.Yield()
	var first error
	for _, h := range n.here() {
		first = errors.Join(first, h.drain(ctx))
	}
	return first
}

// here are the servers that live on this node.
func (n *Node) here() []*host {
	n.mu.Lock()
	defer n.mu.Unlock()
	hosts := make([]*host, 0, len(n.hosts))
	for _, h := range n.hosts {
		hosts = append(hosts, h)
	}
	return hosts
}

// Close ends every way that leads here or from here, and returns when the servers that
// live here have ended and their leases are given up.
func (n *Node) Close() error {
	n.mu.Lock()
	first := !n.closed
	n.draining, n.closed = true, true
	hosts := make([]*host, 0, len(n.hosts))
	for _, h := range n.hosts {
		hosts = append(hosts, h)
	}
	pipes := n.openPipes()
	n.mu.Unlock()
	for _, h := range hosts {
		h.end(fmt.Errorf("%w: it is being shut down", ErrClosed))
	}
	for _, p := range pipes {
		p.end(ErrClosed, true)
	}
	if first {
		close(n.stop)
	}
	n.work.Wait()
	if first {
		_ = n.calls.Unsubscribe()
		n.out.close()
		n.nc.Close()
	}
	return nil
}

// openPipes lists the ways over NATS; n.mu is held.
func (n *Node) openPipes() []*pipe {
	out := make([]*pipe, 0, len(n.pipes))
	for p := range n.pipes {
		out = append(out, p)
	}
	return out
}

// beats gives signs of life to every peer, and gives up those that give none.
func (n *Node) beats() {
	tick := time.NewTicker(n.o.beat())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-n.stop:
			return
		}
		n.mu.Lock()
		pipes := n.openPipes()
		n.mu.Unlock()
		for _, p := range pipes {
			p.beat()
		}
	}
}

// settled reports whether the last reconnection is so long ago that the other nodes
// must be back as well: until then, that nobody listens in a node's name proves nothing.
func (n *Node) settled() bool {
	at := n.reconnected.Load()
	return at == 0 || time.Since(n.begun)-time.Duration(at) > 2*n.o.settle()
}
