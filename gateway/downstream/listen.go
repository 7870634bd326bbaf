package downstream

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/duplex"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/internal/accept"
)

// Defaults of Options.
const (
	// DefaultMaxConnections is how many clients a listener serves at once.
	DefaultMaxConnections = 1 << 15
	// DefaultWriteBuffer bounds, in bytes, what waits for one client.
	DefaultWriteBuffer = 4 << 20
	// DefaultPatience is how long a client's calls go on that has closed its side of a
	// socket, and may or may not still read: a client that died looks the same.
	DefaultPatience = 5 * time.Second
	// DefaultChunkSize is the largest read of a client's connection, in bytes.
	DefaultChunkSize = 64 << 10
)

// Options of clients on duplex connections.
type Options struct {
	// MaxConnections is how many are served at once; further ones are closed. Zero is
	// DefaultMaxConnections, negative no bound.
	MaxConnections int
	// Conn are those of each connection. Conn.WriteBuffer is the byte bound of a
	// client: one that lets answers beyond it pile up is let go of. Its zero is
	// DefaultWriteBuffer here. Conn.CloseTimeout is how long the calls of a client go on
	// that has closed its side; then, and at once if a write fails, they are cancelled.
	// Its zero is DefaultPatience, and gateway.DefaultTimeout on standard input and
	// output, whose users often say all they want at once.
	Conn conn.Options
	// Identity is who the clients are, for listeners whose users are known by the
	// file system or the network; "" is nobody.
	Identity string
}

func (o Options) withDefaults() Options {
	if o.MaxConnections == 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	if o.Conn.WriteBuffer == 0 {
		o.Conn.WriteBuffer = DefaultWriteBuffer
	}
	if o.Conn.CloseTimeout == 0 {
		o.Conn.CloseTimeout = DefaultPatience
	}
	return o
}

// join brings one client to the gateway. closed is called once, at the end, unless join
// fails; the stream belongs to the client in any case.
func (o Options) join(g *gateway.Gateway, stream io.ReadWriteCloser, transport string, closed func(error)) (*duplex.Link, error) {
	peer := link.Peer{Transport: transport, Identity: o.Identity}
	if c, ok := stream.(net.Conn); ok && c.RemoteAddr() != nil {
		peer.Address = c.RemoteAddr().String()
	}
	return o.joinAs(g, stream, peer, closed)
}

// joinAs is join of a client that is known.
func (o Options) joinAs(g *gateway.Gateway, stream io.ReadWriteCloser, peer link.Peer, closed func(error)) (*duplex.Link, error) {
	var s *gateway.Session
	if o.Conn.Partial == nil {
		o.Conn.Partial = limit.Partial.Charge
	}
	l, err := duplex.Over(stream, duplex.Options{
		Conn: o.Conn, Peer: peer, Closed: closed, Ending: func() <-chan struct{} { return s.Idle() },
	}, func(l *duplex.Link) link.Receiver {
		s = g.Join(l)
		return s
	})
	if err != nil {
		_ = stream.Close()
	}
	return l, err
}

// Serve serves one client over a stream, which it owns from then on, until the client
// goes or ctx ends. The error is why the connection ended, nil when the client closed
// it.
func Serve(ctx context.Context, g *gateway.Gateway, stream io.ReadWriteCloser, transport string, o Options) error {
	over := make(chan error, 1)
	l, err := o.withDefaults().join(g, stream, transport, func(err error) { over <- err })
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { l.End(context.Cause(ctx)) })
	defer stop()
	if err := <-over; !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return nil
}

// Stdio serves the one client that started this process, over standard input and
// output, which nothing else of the program may touch. See Serve.
func Stdio(ctx context.Context, g *gateway.Gateway, o Options) error {
	stream, err := conn.StdioStream()
	if err != nil {
		return err
	}
	if o.Conn.CloseTimeout == 0 {
		o.Conn.CloseTimeout = gateway.DefaultTimeout
	}
	return Serve(ctx, g, stream, "stdio", o)
}

// Listen serves every client that l accepts. It returns when l fails, or when ctx
// ends, with its cause; then l is closed and every connection has ended.
func Listen(ctx context.Context, g *gateway.Gateway, l net.Listener, o Options) error {
	o = o.withDefaults()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer func() { _ = l.Close() }()
	c := clients{open: make(map[*duplex.Link]struct{})}
	defer c.endAll(ctx)
	for {
		peer, err := accept.Next(ctx, l)
		if err != nil {
			return err
		}
		if !c.enter(o.MaxConnections) {
			_ = peer.Close()
			continue
		}
		var own *duplex.Link
		joined := make(chan struct{})
		own, err = o.join(g, peer, l.Addr().Network(), func(error) {
			<-joined
			c.leave(own)
		})
		if err != nil {
			c.leave(nil)
		} else {
			c.add(own)
		}
		close(joined)
	}
}

// clients are those of one listener. A client has no goroutine here: it leaves by
// itself.
type clients struct {
	all  sync.WaitGroup
	mu   sync.Mutex // guards the fields below
	n    int
	open map[*duplex.Link]struct{}
	why  error // set when no more are let in
}

func (c *clients) enter(most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil || most > 0 && c.n >= most {
		return false
	}
	c.n++
	c.all.Add(1)
	return true
}

func (c *clients) add(l *duplex.Link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[l] = struct{}{}
	if c.why != nil {
		l.End(c.why)
	}
}

func (c *clients) leave(l *duplex.Link) {
	c.mu.Lock()
	c.n--
	delete(c.open, l)
	c.mu.Unlock()
	c.all.Done()
}

// endAll waits for all clients to go, and makes them when ctx has ended.
func (c *clients) endAll(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { c.end(context.Cause(ctx)) })
	defer stop()
	c.all.Wait()
}

// end lets go of every client, and lets no more in.
func (c *clients) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = why
	for l := range c.open {
		l.End(why)
	}
}
