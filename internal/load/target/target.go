package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
)

// Default is the target when none is named.
const Default = "pipe:echo"

// Spec is a parsed target.
type Spec struct {
	Kind    string // "pipe", "unix", "tcp", "ws", "wss", "http", "https" or "exec"
	Address string // of a socket; the URL of a WebSocket or of an endpoint
	Command []string
}

// Parse reads a target.
func Parse(text string) (Spec, error) {
	kind, rest, found := strings.Cut(text, ":")
	if !found || rest == "" {
		return Spec{}, fmt.Errorf("target %q: want pipe:echo, unix:/path, tcp:host:port, ws://host:port/path, http://host:port/path or exec:command args", text)
	}
	switch kind {
	case "pipe":
		if rest != "echo" {
			return Spec{}, fmt.Errorf("target %q: the only pipe is pipe:echo", text)
		}
		return Spec{Kind: kind}, nil
	case "unix":
		return Spec{Kind: kind, Address: rest}, nil
	case "tcp":
		if !strings.Contains(rest, ":") {
			return Spec{}, fmt.Errorf("target %q: want tcp:host:port", text)
		}
		return Spec{Kind: kind, Address: rest}, nil
	case "ws", "wss": // the slashes are optional
		return parseURL(text, kind, kind+"://"+strings.TrimPrefix(rest, "//"))
	case "http", "https":
		return parseURL(text, kind, text)
	case "exec":
		words, err := Words(rest)
		if err != nil {
			return Spec{}, fmt.Errorf("target %q: %w", text, err)
		}
		return Spec{Kind: kind, Command: words}, nil
	}
	return Spec{}, fmt.Errorf("target %q: unknown kind %q (pipe, unix, tcp, ws, wss, http, https, exec)", text, kind)
}

// parseURL reads a target whose address is a URL.
func parseURL(text, kind, address string) (Spec, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Spec{}, fmt.Errorf("target %q: %w", text, err)
	}
	if u.Hostname() == "" {
		return Spec{}, fmt.Errorf("target %q: want %s://host:port/path", text, kind)
	}
	return Spec{Kind: kind, Address: address}, nil
}

// Options of Open.
type Options struct {
	// Conn is how the connections behave. Its Handler is replaced: requests of
	// the peer are refused, pings answered. Of it MaxPending, Overflow and Timeout
	// count at an HTTP endpoint.
	Conn conn.Options
	// Count is how many connections are made, each to a server or a child of its
	// own where the target is pipe or exec. Zero and negative are one.
	Count int
	// Echo is how the servers behind pipe:echo behave.
	Echo echo.Options
	// Stderr gets what children write to their standard error; nil drops it, the
	// end of it aside, which is in the error when the child dies.
	Stderr io.Writer
}

// Target is open connections. Its methods are for one goroutine.
type Target struct {
	// Conns are the connections; those to an HTTP endpoint are of type *HTTPLink. The
	// slice must not be changed.
	Conns []drive.Link
	// Echo is the counters of the servers behind pipe:echo, else nil.
	Echo *echo.Counters

	apart  bool // each connection has a server, and counters, of its own
	asked  int64
	served []chan error  // the ends of echo.Serve; none without one
	quit   chan struct{} // closed to cut what echo.Serve still waits for
	awake  sync.Once     // closes quit

	closing sync.Once
	closed  error // what Close returns
}

// Open connects. ctx bounds the connecting. Of several connections all are made,
// or none.
func Open(ctx context.Context, spec Spec, o Options) (*Target, error) {
	if o.Echo.Counters == nil {
		o.Echo.Counters = new(echo.Counters)
	}
	t := &Target{apart: spec.Kind == "exec", quit: make(chan struct{})}
	if spec.Kind == "pipe" {
		t.Echo = o.Echo.Counters
	}
	for range max(o.Count, 1) {
		c, err := t.open(ctx, spec, o)
		if err != nil {
			_ = t.Close() // the error that matters is at hand
			return nil, err
		}
		t.Conns = append(t.Conns, c)
	}
	return t, nil
}

func (t *Target) open(ctx context.Context, spec Spec, o Options) (drive.Link, error) {
	if spec.Kind == "http" || spec.Kind == "https" {
		return newHTTPLink(spec.Address, o.Conn), nil // Shake connects
	}
	c, err := t.connect(ctx, spec, o)
	if err != nil {
		return nil, err // and no link that is a nil *conn.Conn
	}
	return c, nil
}

func (t *Target) connect(ctx context.Context, spec Spec, o Options) (*conn.Conn, error) {
	switch spec.Kind {
	case "pipe":
		client, server := echo.Pipe()
		c, err := conn.New(client, o.Conn)
		if err != nil {
			return nil, err
		}
		o.Echo.Quit = t.quit
		served := make(chan error, 1)
		t.served = append(t.served, served)
		go func() { served <- echo.Serve(server, o.Echo) }()
		return c, nil
	case "ws", "wss":
		return dialWS(ctx, spec.Address, o.Conn)
	case "exec":
		return conn.Spawn(ctx, conn.Command{Path: spec.Command[0], Args: spec.Command[1:], Stderr: o.Stderr}, o.Conn)
	}
	return conn.Dial(ctx, spec.Kind, spec.Address, o.Conn)
}

// Wake makes the servers behind pipe:echo stop stalling, for good: what they have
// not read yet is read now. It does nothing to other targets.
func (t *Target) Wake() { t.awake.Do(func() { close(t.quit) }) }

// Lost is why a call that an HTTP endpoint lost was lost; nil if none was.
func (t *Target) Lost() error {
	for _, c := range t.Conns {
		if l, ok := c.(*HTTPLink); ok && l.Lost() != nil {
			return l.Lost()
		}
	}
	return nil
}

// Close ends the connections, child processes too, and returns why an echo server
// in this process ended if it did so by itself. It may be called again.
func (t *Target) Close() error {
	t.closing.Do(func() {
		errs := make([]error, len(t.Conns))
		var closing sync.WaitGroup
		for i, c := range t.Conns { // each may wait for its peer
			closing.Go(func() { errs[i] = c.Close() })
		}
		closing.Wait()
		t.Wake()
		if len(t.served) == 0 {
			t.closed = errors.Join(errs...)
			return
		}
		for _, served := range t.served {
			if err := <-served; err != nil && !errors.Is(err, echo.ErrDied) {
				t.closed = errors.Join(t.closed, err)
			}
		}
	})
	return t.closed
}
