package downstream

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/duplex"
	"github.com/correlator-go/correlator/gateway/link"
)

// Defaults of Options.
const (
	// DefaultMaxConnections is how many clients a listener serves at once.
	DefaultMaxConnections = 1 << 15
	// DefaultWriteBuffer bounds, in bytes, what waits for one client.
	DefaultWriteBuffer = 4 << 20
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
	// DefaultWriteBuffer here.
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
		o.Conn.CloseTimeout = gateway.DefaultTimeout // for who has said all it wants
	}
	return o
}

// Serve serves one client over a stream, which it owns from then on, until the client
// goes or ctx ends. The error is why the connection ended, nil when the client closed
// it.
func Serve(ctx context.Context, g *gateway.Gateway, stream io.ReadWriteCloser, transport string, o Options) error {
	o = o.withDefaults()
	peer := link.Peer{Transport: transport, Identity: o.Identity}
	if c, ok := stream.(net.Conn); ok && c.RemoteAddr() != nil {
		peer.Address = c.RemoteAddr().String()
	}
	var s *gateway.Session
	l, err := duplex.Over(stream, duplex.Options{Conn: o.Conn, Peer: peer, Ending: func() <-chan struct{} { return s.Idle() }},
		func(l *duplex.Link) link.Receiver {
			s = g.Join(l)
			return s
		})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { l.End(context.Cause(ctx)) })
	defer stop()
	<-l.Done()
	if err := l.Conn().Err(); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
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
	return Serve(ctx, g, stream, "stdio", o)
}

// acceptPause is how long Listen waits when there is no room for one more socket.
const acceptPause = 50 * time.Millisecond

func isTransient(err error) bool {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return true
	}
	return errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Listen serves every client that l accepts. It returns when l fails, or when ctx
// ends, with its cause; then l is closed and every connection has ended.
func Listen(ctx context.Context, g *gateway.Gateway, l net.Listener, o Options) error {
	o = o.withDefaults()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer func() { _ = l.Close() }()
	var all sync.WaitGroup
	defer all.Wait()
	var places chan struct{}
	if o.MaxConnections > 0 {
		places = make(chan struct{}, o.MaxConnections)
	}
	for {
		peer, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !isTransient(err) {
				return err
			}
			select {
			case <-time.After(acceptPause):
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if places != nil {
			select {
			case places <- struct{}{}:
			default:
				_ = peer.Close()
				continue
			}
		}
		all.Go(func() {
			if places != nil {
				defer func() { <-places }()
			}
			_ = Serve(ctx, g, peer, l.Addr().Network(), o)
		})
	}
}
