package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/guard"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// host is a way to a server that lives on this node, from when its lease was taken. The
// ways of all nodes lead to it, each as one client of a gateway of the host's own,
// so what they must not mix up is kept apart by what keeps clients apart. It lives no
// longer than the server: when that goes, so do the ways, and whoever is first starts
// it anew.
type host struct {
	n        *Node
	upstream string
	key      link.Key
	lease    *lease
	opener   link.Opener
	o        WayOptions
	gateway  *gateway.Gateway

	ready    chan struct{} // closed when the server has answered for the first time
	stopping chan struct{} // closed when it ends
	done     chan struct{} // closed when it has ended and the lease is given up

	mu     sync.Mutex // guards the fields below
	guests map[guest]struct{}
	why    error // nil until it ends
	// yielding has a member for each guest of another node that was told to send no new
	// calls; nil before they were.
	yielding []<-chan struct{}
}

// guest is the client that a way of a node is to the host.
type guest interface {
	link.Client
	// opened says that the server is open.
	opened()
	// yield has the guest send no new calls. The channel is closed when none will come;
	// nil says that nothing has to be waited for.
	yield() <-chan struct{}
}

// host makes the node the owner of a way whose lease it has. False says that it is
// about to leave.
func (n *Node) host(l *lease, upstream string, k link.Key, opener link.Opener, o WayOptions) (*host, bool) {
	h := &host{
		n: n, upstream: upstream, key: k, lease: l, opener: opener, o: o, guests: make(map[guest]struct{}),
		ready: make(chan struct{}), stopping: make(chan struct{}), done: make(chan struct{}),
	}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
		// Deadlines and limits are those of the nodes, which know what they are about.
		Name: o.Name, Relay: &gateway.Relay{Dropped: o.Dropped}, Opener: (*source)(h), Isolation: gateway.Shared, Plain: o.Plain, Timeout: -1, Limit: limit.Options{MaxInFlight: hostPending, MaxQueued: hostPending},
		ProbeTimeout: o.ProbeTimeout, OpenTimeout: o.OpenTimeout, BackoffMin: -1,
	}}, OnPanic: o.OnPanic})
	if err != nil {
		panic("cluster: " + err.Error()) // an upstream with a name and an opener
	}
	h.gateway = g
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.draining {
		return nil, false
	}
	n.hosts[l.key] = h
	n.work.Go(h.run)
	return h, true
}

// hostPending bounds the calls of all nodes together.
const hostPending = 1 << 20

// run keeps the lease, and ends the server before the lease can.
func (h *host) run() {
	if err := h.lease.keep(h.stopping); err != nil {
		h.end(err)
	}
	_ = h.gateway.Close() // returns when the server has ended
	h.lease.release()
	h.n.mu.Lock()
	delete(h.n.hosts, h.lease.key)
	h.n.mu.Unlock()
	close(h.done)
}

// end lets all nodes know that the way is over, before anything else fails of it.
func (h *host) end(why error) {
	h.mu.Lock()
	if h.why != nil {
		h.mu.Unlock()
		return
	}
	h.why = why
	guests := make([]guest, 0, len(h.guests))
	for g := range h.guests {
		guests = append(guests, g)
	}
	h.mu.Unlock()
	for _, g := range guests {
		g.End(why)
	}
	close(h.stopping)
}

func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.guests)
}

// enter takes in a guest, and gives it its session before anything can be said to it.
// The error is why the host has ended.
func (h *host) enter(g guest, join func(link.Receiver)) error {
	join(h.gateway.Join(g)) // one that is closed ends the guest
	h.mu.Lock()
	why := h.why
	if _, own := g.(*nearGuest); why == nil && h.yielding != nil && !own {
		why = errLeaving
	}
	if why == nil {
		h.guests[g] = struct{}{}
	}
	first := len(h.guests) == 1
	h.mu.Unlock()
	if why != nil {
		g.End(why)
		return why
	}
	select {
	case <-h.ready:
		g.opened()
	default:
		if first {
			h.warm()
		}
	}
	return nil
}

// yield has other nodes keep their new calls until the server lives elsewhere. It may be
// called again.
func (h *host) yield() []<-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.yielding != nil {
		return h.yielding
	}
	h.yielding = []<-chan struct{}{}
	for g := range h.guests {
		if silent := g.yield(); silent != nil {
			h.yielding = append(h.yielding, silent)
		}
	}
	return h.yielding
}

// drain ends the server when the calls are over that it has.
func (h *host) drain(ctx context.Context) error {
	for _, silent := range h.yield() {
		select {
		case <-silent:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := h.gateway.Drain(ctx); err != nil {
		return err
	}
	h.end(fmt.Errorf("%w: it is being shut down", ErrClosed))
	return nil
}

// left is told of a guest whose way is over. Without any the server is not needed.
func (h *host) left(g guest) {
	h.mu.Lock()
	delete(h.guests, g)
	last := len(h.guests) == 0
	h.mu.Unlock()
	if last {
		h.end(errUnused)
	}
}

var errUnused = errors.New("cluster: no node uses it")

// warm opens the server for a host without waiting for the first call. What opens it
// is a client like any other, which asks what it may ask of every server.
func (h *host) warm() {
	if h.o.Plain {
		h.isReady() // there is nothing that may be asked
		return
	}
	w := &warmer{host: h, joined: make(chan struct{})}
	session := h.gateway.Join(w)
	w.session = session
	close(w.joined)
	frame := codec.AppendRequest(nil, codec.IntID(1), mcp.MethodDiscover, []byte(`{"_meta":{"`+mcp.MetaProtocolVersion+`":"`+string(mcp.Modern)+`","`+
		mcp.MetaClientInfo+`":{"name":"`+gateway.Implementation+`","version":"1"},"`+mcp.MetaClientCapabilities+`":{}}}`))
	m, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil {
		panic("cluster: " + err.Error()) // a frame of our own
	}
	_ = session.Receive(nil, &m) // a session's first request is no duplicate
}

// isReady tells all guests that the server is open.
func (h *host) isReady() {
	h.mu.Lock()
	select {
	case <-h.ready:
		h.mu.Unlock()
		return
	default:
	}
	if h.why != nil { // what answered was its end
		h.mu.Unlock()
		return
	}
	close(h.ready)
	guests := make([]guest, 0, len(h.guests))
	for g := range h.guests {
		guests = append(guests, g)
	}
	h.mu.Unlock()
	for _, g := range guests {
		g.opened()
	}
}

// warmer is the client that opens the server.
type warmer struct {
	host    *host
	joined  chan struct{} // closed when session is set
	session link.Receiver
	once    sync.Once
}

// Send implements link.Client: any answer says that the server is open, or the host
// has ended.
func (w *warmer) Send(*link.Frame, *link.Burst) error {
	w.once.Do(func() {
		go func() {
			w.host.isReady()
			<-w.joined
			w.session.Gone(nil)
		}()
	})
	return nil
}

func (w *warmer) Queued() (bytes, bound int64) { return 0, 1 }
func (w *warmer) Peer() link.Peer              { return link.Peer{Transport: transport, Address: w.host.n.o.Node} }
func (w *warmer) End(error)                    { _ = w.Send(nil, nil) }

// source is the host as the opener of its gateway: it opens the server once, and when
// that has gone the host ends.
type source host

func (s *source) String() string { return s.opener.String() }

// Open implements link.Opener.
func (s *source) Open(ctx context.Context, owner link.Owner, _ link.Key) (link.Upstream, error) {
	h := (*host)(s)
	select {
	case <-h.stopping:
		return nil, h.reason()
	default:
	}
	err := h.lease.check()
	var up link.Upstream
	if err == nil {
		up, err = h.opener.Open(guard.WithLease(ctx, &h.lease.child), &watched{Owner: owner, host: h}, h.key)
	}
	if err != nil {
		h.end(fmt.Errorf("could not be opened: %w", err))
	}
	return up, err
}

func (h *host) reason() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.why
}

// watched tells the host that the server has gone before its gateway fails the calls:
// the nodes are to see a way that was lost, as if the server were their own.
type watched struct {
	link.Owner
	host *host
}

// Gone implements link.Receiver.
func (w *watched) Gone(err error) {
	w.host.end(err)
	w.Owner.Gone(err)
}
