package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
)

// Default is the target when none is named.
const Default = "pipe:echo"

// Spec is a parsed target.
type Spec struct {
	Kind    string // "pipe", "unix", "tcp" or "exec"
	Address string // of a socket
	Command []string
}

// Parse reads a target.
func Parse(text string) (Spec, error) {
	kind, rest, found := strings.Cut(text, ":")
	if !found || rest == "" {
		return Spec{}, fmt.Errorf("target %q: want pipe:echo, unix:/path, tcp:host:port or exec:command args", text)
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
	case "exec":
		words, err := Words(rest)
		if err != nil {
			return Spec{}, fmt.Errorf("target %q: %w", text, err)
		}
		return Spec{Kind: kind, Command: words}, nil
	}
	return Spec{}, fmt.Errorf("target %q: unknown kind %q (pipe, unix, tcp, exec)", text, kind)
}

// Options of Open.
type Options struct {
	// Conn is how the connection behaves. Its Handler is replaced: requests of
	// the peer are refused, pings answered.
	Conn conn.Options
	// Echo is how the server behind pipe:echo behaves.
	Echo echo.Options
	// Stderr gets what a child writes to its standard error; nil drops it, the
	// end of it aside, which is in the error when the child dies.
	Stderr io.Writer
}

// Target is an open connection. Its methods are for one goroutine.
type Target struct {
	Conn *conn.Conn
	// Echo is the counters of the server behind pipe:echo, else nil.
	Echo *echo.Counters

	asked  int64
	served chan error    // the end of echo.Serve; nil without one
	quit   chan struct{} // closed to cut what echo.Serve still waits for

	closing sync.Once
	closed  error // what Close returns
}

// Open connects. ctx bounds the connecting.
func Open(ctx context.Context, spec Spec, o Options) (*Target, error) {
	switch spec.Kind {
	case "pipe":
		return openPipe(o)
	case "exec":
		c, err := conn.Spawn(ctx, conn.Command{Path: spec.Command[0], Args: spec.Command[1:], Stderr: o.Stderr}, o.Conn)
		if err != nil {
			return nil, err
		}
		return &Target{Conn: c}, nil
	}
	c, err := conn.Dial(ctx, spec.Kind, spec.Address, o.Conn)
	if err != nil {
		return nil, err
	}
	return &Target{Conn: c}, nil
}

func openPipe(o Options) (*Target, error) {
	if o.Echo.Counters == nil {
		o.Echo.Counters = new(echo.Counters)
	}
	client, server := echo.Pipe()
	c, err := conn.New(client, o.Conn)
	if err != nil {
		return nil, err
	}
	t := &Target{Conn: c, Echo: o.Echo.Counters, served: make(chan error, 1), quit: make(chan struct{})}
	o.Echo.Quit = t.quit
	go func() { t.served <- echo.Serve(server, o.Echo) }()
	return t, nil
}

// Close ends the connection, a child process too, and returns why the echo
// server in this process ended if it did so by itself. It may be called again.
func (t *Target) Close() error {
	t.closing.Do(func() {
		t.closed = t.Conn.Close()
		if t.served == nil {
			return
		}
		close(t.quit)
		if t.closed = <-t.served; errors.Is(t.closed, echo.ErrDied) {
			t.closed = nil
		}
	})
	return t.closed
}
