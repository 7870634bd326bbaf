package downstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Defaults of ServerOptions.
const (
	// DefaultHeaderTimeout is how long the header of a request may take to come in.
	DefaultHeaderTimeout = 10 * time.Second
	// DefaultKeepIdle is how long a connection may wait for its next request.
	DefaultKeepIdle = 2 * time.Minute
	// DefaultMaxHeader is the longest header, in bytes.
	DefaultMaxHeader = 64 << 10
	// DefaultEndTimeout is how long responses may take to be written at the end.
	DefaultEndTimeout = 5 * time.Second
)

// ServerOptions of an HTTP server. Zero is the default, negative durations are none.
type ServerOptions struct {
	// TLS serves https; nil serves http.
	TLS *tls.Config
	// HeaderTimeout, KeepIdle and EndTimeout bound how long a header may come in, a
	// connection wait, and the end of the server take.
	HeaderTimeout, KeepIdle, EndTimeout time.Duration
	// MaxHeader is the longest header of a request, in bytes.
	MaxHeader int
	// MaxConnections is how many TCP connections are open at once; further ones wait
	// to be accepted. Zero is DefaultMaxConnections, negative no bound.
	MaxConnections int
	// ErrorLog gets what net/http has to say of connections; nil drops it, since most
	// of it is port scans.
	ErrorLog *log.Logger
}

// ErrNotLoopback: an address can be reached from other machines, and nobody said that it
// may be.
var ErrNotLoopback = errors.New("downstream: not a loopback address")

// Bind opens a TCP listener. One that other machines can reach has to be asked for, by
// open: otherwise the error is ErrNotLoopback, with the address.
func Bind(ctx context.Context, address string, open bool) (net.Listener, error) {
	if !open && !IsLoopback(address) {
		return nil, fmt.Errorf("%w: %s", ErrNotLoopback, address)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

// IsLoopback reports whether only this machine can reach an address, host:port. An empty
// host is every interface, and a name but localhost could be any.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// ServeHTTP serves h at l until ctx ends, whose cause it then returns, or l fails. closed
// is called when no more requests are taken, and ends what would not end by itself,
// such as event streams; Endpoint.Close is meant for it, and nil for nothing. When
// ServeHTTP returns, l and every connection are closed, WebSockets excepted.
func ServeHTTP(ctx context.Context, l net.Listener, h http.Handler, o ServerOptions, closed func() error) error {
	s := o.server(h)
	if o.TLS != nil {
		l = tls.NewListener(bounded(l, o.MaxConnections), s.TLSConfig)
	} else {
		l = bounded(l, o.MaxConnections)
	}
	over := make(chan error, 1)
	go func() { over <- s.Serve(l) }()
	select {
	case err := <-over:
		o.end(s, closed)
		return err
	case <-ctx.Done():
		o.end(s, closed)
		<-over
		return context.Cause(ctx)
	}
}

func (o *ServerOptions) server(h http.Handler) *http.Server {
	or := func(d, def time.Duration) time.Duration {
		if d == 0 {
			return def
		}
		return max(d, 0)
	}
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: or(o.HeaderTimeout, DefaultHeaderTimeout), IdleTimeout: or(o.KeepIdle, DefaultKeepIdle),
		MaxHeaderBytes: o.MaxHeader, ErrorLog: o.ErrorLog,
	}
	if s.MaxHeaderBytes == 0 {
		s.MaxHeaderBytes = DefaultMaxHeader
	}
	if s.ErrorLog == nil {
		s.ErrorLog = log.New(io.Discard, "", 0)
	}
	if o.TLS != nil {
		s.TLSConfig = o.TLS.Clone()
		for _, p := range []string{"h2", "http/1.1"} {
			if !slices.Contains(s.TLSConfig.NextProtos, p) {
				s.TLSConfig.NextProtos = append(s.TLSConfig.NextProtos, p)
			}
		}
	}
	return s
}

// end lets responses be written for a while and closes what is left.
func (o *ServerOptions) end(s *http.Server, closed func() error) {
	limit := o.EndTimeout
	if limit == 0 {
		limit = DefaultEndTimeout
	}
	ctx, stop := context.WithTimeout(context.Background(), max(limit, 0))
	defer stop()
	if closed != nil {
		_ = closed() // there is nobody to tell
	}
	if s.Shutdown(ctx) != nil {
		_ = s.Close()
	}
}
