package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/guard"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/status"
)

// DefaultDrain is how long calls may go on after the end was asked for.
const DefaultDrain = 10 * time.Second

var errNoAddress = errors.New("url is no address")

// Options of a node.
type Options struct {
	// Log gets what happens; nil drops it. The line of each call needs log.calls in the
	// file.
	Log *slog.Logger
	// Guard ends the children if this process is killed or frozen; nil is nobody, as
	// guard: false in the file is. Who gives one has guard.Hook in main, and closes it
	// when Run has returned.
	Guard *guard.Guard
	// Ready is called once by Run, when clients can come.
	Ready func(Ready)
}

// Ready says where a node is; ports that were left to the system are filled in.
type Ready struct {
	// Clients are the addresses of listen.
	Clients []string
	// Status is the address of the page, "" if there is none. Where the token was made
	// up it stands behind the #.
	Status string
}

// Node is a gateway with its listeners. Its methods are safe for concurrent use.
type Node struct {
	o       Options
	log     *slog.Logger
	board   *status.Board
	gateway *gateway.Gateway
	member  *membership // nil in no cluster
	auth    atomic.Pointer[verifier]

	clients context.Context // ends when clients are let go of; set by Run, as is over
	loops   sync.WaitGroup  // places that are served

	mu     sync.Mutex // guards the fields below; held by Reload
	config *config.Config
	built  map[string]built
	places []*place
	fronts []*front  // all that there were
	over   chan over // nil while nothing is served
	drains bool      // the end was asked for
}

// New builds what c names and opens nothing: no listener, no server. The error says
// where in the file it comes from.
func New(c *config.Config, o Options) (*Node, error) {
	if c.Guard != nil && !*c.Guard {
		o.Guard = nil
	}
	n := &Node{o: o, log: o.Log, config: c, member: membershipOf(c)}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	board, err := status.New(n.statusOptions(c))
	if err != nil {
		return nil, err
	}
	n.board = board
	if err := n.build(c); err != nil {
		_ = board.Close()
		return nil, err
	}
	return n, nil
}

func (n *Node) statusOptions(c *config.Config) status.Options {
	o := status.Options{Log: n.log, LogCalls: c.Log.Calls, Token: c.Status.Token}
	if g := n.o.Guard; g != nil {
		o.Guard = g.Stats
	}
	o.Export = status.Export{Endpoint: c.Telemetry.Endpoint, Headers: c.Telemetry.Headers, Sample: c.Telemetry.Sample}
	return o
}

func (n *Node) build(c *config.Config) error {
	v, err := verifierOf(c)
	if err != nil {
		return err
	}
	n.auth.Store(v)
	if n.built, err = n.upstreams(c, nil); err != nil {
		return err
	}
	if c.Clients.Partial != 0 {
		limit.Partial.Bound(int64(c.Clients.Partial)) // the process has one
	}
	n.gateway, err = gateway.New(n.gatewayOptions(c, n.built))
	if err != nil {
		return c.Mistake("upstreams", err.Error())
	}
	n.board.Watch(n.gateway)
	if n.member != nil {
		n.member.gateway.Store(n.gateway)
	}
	n.places, err = n.listeners(c)
	return err
}

func (n *Node) gatewayOptions(c *config.Config, upstreams map[string]built) gateway.Options {
	o := gateway.Options{Merge: c.Merge, MergePatience: c.MergePatience, Limit: limitOf(c.Limits, 0), Rate: c.Clients.Rate, Burst: max(c.Clients.Burst, 0), Observer: n.board.Observe, Tracer: n.board.Tracer(), OnPanic: func(v any, stack []byte) {
		n.log.Error("a panic", "value", fmt.Sprint(v), "stack", string(stack))
	}}
	if c.Clients.Overflow == "close" {
		o.Overflow = gateway.CloseSlow
	}
	for _, name := range c.Names() {
		o.Upstreams = append(o.Upstreams, upstreams[name].as)
	}
	return o
}

// Gateway is the core, for those who embed a node.
func (n *Node) Gateway() *gateway.Gateway { return n.gateway }

// Run listens and serves until ctx ends; then it takes no new calls, says so at /readyz,
// lets those in flight end for as long as the file allows, and returns nil. If the only
// client was the one that started the process, its going is the end, too. Run is called
// once.
func (n *Node) Run(ctx context.Context) error {
	defer func() {
		n.closeFronts()
		_ = n.gateway.Close()
		n.member.leave()
		_ = n.board.Close()
		if err := n.board.Flush(); err != nil {
			n.log.Warn("telemetry was not sent", "error", auth.Redact(err.Error()))
		}
	}()
	if err := n.member.join(ctx); err != nil {
		return err
	}
	// Clients are let go of when their calls are over, not when the end is asked for.
	clients, release := context.WithCancelCause(context.Background())
	defer release(gateway.ErrClosed)
	if err := n.open(ctx, clients); err != nil {
		return err
	}
	n.ready()
	err := n.wait(ctx)
	n.drain()
	release(gateway.ErrClosed)
	done := make(chan struct{})
	go func() {
		n.loops.Wait()
		close(done)
	}()
	for {
		select {
		case <-n.over:
		case <-done:
			return err
		}
	}
}

// closeFronts ends what is served over HTTP, where that has not been done.
func (n *Node) closeFronts() {
	n.mu.Lock()
	fronts := n.fronts
	n.mu.Unlock()
	for _, f := range fronts {
		_ = f.close()
	}
}

// open opens every listener and serves there, or opens none.
func (n *Node) open(ctx, clients context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	opened := make([]net.Listener, len(n.places))
	for i, p := range n.places {
		if p.bind == nil {
			continue
		}
		l, err := p.bind(ctx, p)
		if err != nil {
			for _, l := range opened[:i] {
				if l != nil {
					_ = l.Close()
				}
			}
			return err
		}
		opened[i] = l
	}
	n.clients, n.over = clients, make(chan over)
	for i, p := range n.places {
		n.begin(p, opened[i])
	}
	return nil
}

// wait returns when ctx ends, a listener fails, or the last place is over that brings
// clients.
func (n *Node) wait(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case o := <-n.over:
			if o.err != nil {
				return o.err
			}
			if n.isLonely(o.place) {
				return nil
			}
		}
	}
}

// isLonely reports whether nobody can come any more, now that p is over.
func (n *Node) isLonely(p *place) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.places = slices.DeleteFunc(n.places, func(one *place) bool { return one == p })
	return !slices.ContainsFunc(n.places, func(one *place) bool { return !one.aside })
}

func (n *Node) ready() {
	n.mu.Lock()
	defer n.mu.Unlock()
	var r Ready
	for _, p := range n.places {
		if !p.aside {
			r.Clients = append(r.Clients, p.at)
		}
		if page := p.page(); page != "" && r.Status == "" {
			r.Status = page
			if n.config.Status.Token == "" {
				r.Status += "#token=" + n.board.Token()
			}
		}
	}
	n.log.Debug("serving", "clients", r.Clients)
	if n.o.Ready != nil {
		n.o.Ready(r)
	}
}

func (n *Node) drain() {
	n.mu.Lock()
	limit := n.config.Drain
	n.drains = true
	n.mu.Unlock()
	if limit == 0 {
		limit = DefaultDrain
	}
	ctx, cancel := context.WithTimeout(context.Background(), max(limit, 0))
	defer cancel()
	n.log.Info("draining", "calls", n.gateway.Stats().InFlight, "limit", limit)
	n.member.yield()
	if n.gateway.Drain(ctx) != nil {
		n.log.Warn("calls did not end in time", "calls", n.gateway.Stats().InFlight)
	}
	n.member.drain(ctx)
}

// Reload takes what c says while clients go on and no call is dropped: see
// gateway.Configure for upstreams, limits and merging. Addresses of listen and status are
// opened and closed as they come and go; connections go on where they came in, by what
// the file said then, and so do the sessions of the older era. Credentials count for all
// requests at once, and certificates are read anew. What needs a restart is said in the
// log. On an error nothing has changed.
func (n *Node) Reload(c *config.Config) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.drains {
		return gateway.ErrClosed
	}
	v, err := verifierOf(c)
	if err != nil {
		return err
	}
	next, err := n.upstreams(c, n.built)
	if err != nil {
		return err
	}
	m, err := n.moving(c)
	if err != nil {
		return err
	}
	if err := m.certificates(c); err != nil {
		m.undo()
		return err
	}
	if err := n.board.SetToken(c.Status.Token); err != nil {
		m.undo()
		return c.Mistake("status.token", err.Error())
	}
	if err := n.gateway.Configure(n.gatewayOptions(c, next)); err != nil {
		m.undo()
		return err
	}
	n.auth.Store(v)
	n.board.LogCalls(c.Log.Calls)
	limit.Partial.Bound(int64(cmp.Or(c.Clients.Partial, limit.DefaultPartialBytes)))
	n.move(m)
	for _, what := range append(m.restart, restartFor(n.config, c)...) {
		n.log.Warn("a change needs a restart", "member", what)
	}
	n.config, n.built = c, next
	n.log.Info("configuration read again", "file", c.File(), "upstreams", len(next))
	return nil
}

var _ http.Handler = (*status.Board)(nil)

var _ auth.Verifier = (*visitors)(nil)
