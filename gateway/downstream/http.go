package downstream

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/duplex"
	"github.com/correlator-go/correlator/gateway/internal/toolschema"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// Defaults of HTTPOptions.Limits, which differ from those of package serve: what a
// gateway passes on is for the servers to judge.
const (
	// DefaultMaxLive is how many requests may be in flight over HTTP: all of the
	// modern era together, and those of each session of the older one.
	DefaultMaxLive = 1 << 15
	// DefaultMaxFrame is the longest body, in bytes.
	DefaultMaxFrame = 16 << 20
	// DefaultMaxDepth is how deep a body may be nested.
	DefaultMaxDepth = 512
)

// HTTPOptions of an Endpoint. The zero value serves everybody who reaches it, so it is
// for loopback addresses.
type HTTPOptions struct {
	// Front are those of Streamable HTTP: which Host and Origin headers are good, how
	// long sessions and bodies may take. Authorize and Verifier in it are set here.
	Front serve.HTTPOptions
	// Limits are those that serve.NewHTTP goes by.
	Limits serve.Options
	// Verifier says who sent a request; nil lets everybody in, as Identity.
	Verifier auth.Verifier
	// Identity is who clients are without a Verifier; "" is nobody.
	Identity string
	// Plain serves JSON-RPC that is no MCP, for upstreams that are Plain: the response to a
	// POST is the answer to its body, a message or a batch; there are no sessions, and
	// nothing of MCP is asked of a request.
	Plain bool
	// WebSocket are those of clients that come by WebSocket, at the same address.
	WebSocket WebSocketOptions
}

// Endpoint serves clients over HTTP at one address: Streamable HTTP of both eras, and
// WebSockets. Host and Origin are checked, and who sent it, of every request.
type Endpoint struct {
	g     *gateway.Gateway
	o     HTTPOptions
	http  *serve.HTTP
	links clients
	tools toolschema.Schemas

	live atomic.Int64 // requests of plain JSON-RPC

	mu     sync.Mutex // guards the fields below
	peers  map[*exchanger]struct{}
	plain  map[*plain]struct{}
	names  map[string]struct{} // of sessions of the older era
	closed bool
}

// NewEndpoint makes the handler. The error says which option is wrong.
func NewEndpoint(g *gateway.Gateway, o HTTPOptions) (*Endpoint, error) {
	for _, f := range []struct {
		value *int
		def   int
	}{
		{&o.Limits.MaxLive, DefaultMaxLive}, {&o.Limits.MaxFrame, DefaultMaxFrame}, {&o.Limits.MaxDepth, DefaultMaxDepth},
		{&o.Limits.WriteBuffer, DefaultWriteBuffer}, {&o.Limits.MaxConnections, DefaultMaxConnections},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
	}
	o.WebSocket = o.WebSocket.withDefaults()
	e := &Endpoint{g: g, o: o, peers: make(map[*exchanger]struct{}), plain: make(map[*plain]struct{}), names: make(map[string]struct{})}
	e.links.open = make(map[*duplex.Link]struct{})
	o.Front.Authorize = e.authorize
	if o.Verifier != nil {
		o.Front.Verifier = o.Verifier.String()
	}
	front, err := serve.NewHTTP(e, o.Front, o.Limits)
	if err != nil {
		return nil, err
	}
	e.http = front
	return e, nil
}

// ServeHTTP serves one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isUpgrade(r) {
		e.upgrade(w, r)
		return
	}
	if r.Body != nil {
		body := &charged{ReadCloser: r.Body}
		defer body.over()
		r = r.WithContext(r.Context()) // net/http looks at its own body when a response is early
		r.Body = body
	}
	if e.o.Plain {
		e.servePlain(w, r)
		return
	}
	e.http.ServeHTTP(w, r)
}

// visitor is who sent a request, as Caller.Value has it.
type visitor struct {
	identity auth.Identity
	address  string
}

func (e *Endpoint) authorize(r *http.Request) (mcp.Caller, error) {
	who := auth.Identity{Name: e.o.Identity}
	if v := e.o.Verifier; v != nil {
		var err error
		if who, err = v.Verify(r.Context(), r); err != nil {
			return mcp.Caller{}, err
		}
	}
	return mcp.Caller{Principal: who.Name, Value: &visitor{who, r.RemoteAddr}}, nil
}

// peerOf is who a client is for the gateway.
func peerOf(caller mcp.Caller, transport string) link.Peer {
	p := link.Peer{Transport: transport, Identity: caller.Principal}
	if v, ok := caller.Value.(*visitor); ok {
		p.Address = v.address
	}
	return p
}

// Open implements serve.Backend.
func (e *Endpoint) Open(_ context.Context, o serve.Opening, out serve.Outlet) (serve.Peer, error) {
	p := newExchanger(e, peerOf(o.Caller, "http"), o.Session, out)
	if !e.enter(p) {
		return nil, serve.ErrStopped
	}
	if !p.join(e.g) {
		e.leave(p)
		return nil, serve.ErrStopped
	}
	return p, nil
}

func (e *Endpoint) enter(p *exchanger) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.peers[p] = struct{}{}
		if !p.who.Alone {
			e.names[p.who.Session] = struct{}{}
		}
	}
	return !e.closed
}

func (e *Endpoint) leave(p *exchanger) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.peers, p)
	delete(e.names, p.who.Session)
}

// Has reports whether r belongs to a session of the older era that lives here. It is for
// programs that put one endpoint in another one's place while sessions go on.
func (e *Endpoint) Has(r *http.Request) bool {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		return false
	}
	name := sessionName(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.names[name]
	return ok
}

// Admits checks a request as ServeHTTP does before it looks at what it brings: its Host,
// its Origin, who sent it. One that is refused has been answered.
func (e *Endpoint) Admits(w http.ResponseWriter, r *http.Request) bool {
	_, ok := e.http.Admit(w, r)
	return ok
}

// IsIdle reports whether no session, request or WebSocket is left.
func (e *Endpoint) IsIdle() bool {
	e.links.mu.Lock()
	sockets := e.links.n
	e.links.mu.Unlock()
	return sockets == 0 && e.Sessions() == 0
}

// Sessions is how many sessions of the older era there are, and requests of the modern
// one, and of plain JSON-RPC.
func (e *Endpoint) Sessions() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.peers) + len(e.plain)
}

// Close ends every session, request and WebSocket, and takes no new ones. It does not
// wait for HTTP responses to be written: http.Server.Shutdown does.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	peers := make([]*exchanger, 0, len(e.peers))
	for p := range e.peers {
		peers = append(peers, p)
	}
	for p := range e.plain {
		p.End(gateway.ErrClosed)
	}
	e.mu.Unlock()
	for _, p := range peers {
		p.end(gateway.ErrClosed)
	}
	e.links.end(gateway.ErrClosed)
	e.links.all.Wait()
	e.http.EndDetached(DefaultEndTimeout)
	return nil
}
