package client

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// Transport is a way to a server: Command, Dial, Stream, Over or an HTTP. The set is
// closed.
type Transport interface {
	// open makes the way for c.
	open(ctx context.Context, c *Client) (link, error)
	// peer names the server for Eras; "" remembers nothing.
	peer() string
	// reopens says that open can be called again when a link has ended.
	reopens() bool
}

// link is an open way to a server.
type link interface {
	// call sends a request and waits for its answer. What it returns is the
	// caller's.
	call(ctx context.Context, r *request) ([]byte, error)
	// notify sends a notification.
	notify(ctx context.Context, method string, params []byte) error
	// adopt is told the revision once it is agreed on, and begins what the
	// revision wants.
	adopt(revision mcp.Revision)
	// close ends the link and every call on it.
	close() error
	// done is closed when the link has ended, by close or by itself; err says why.
	done() <-chan struct{}
	err() error
	// sessionID is the HTTP session's; "" without one.
	sessionID() string
}

// request is one call as a link makes it.
type request struct {
	method string
	params []byte // complete, but for a progress token
	// headers are further HTTP headers.
	headers       []mcp.ParamHeader
	timeout, idle time.Duration
	progress      func(params []byte)
	// notes gets the notifications of a subscription.
	notes func(method string, params []byte)
	// id is what the link sent it under.
	id codec.ID
	// seen says that the observer is told of it.
	seen bool
	// about is what it is about, if that is known without looking into params.
	about string
	// looked says that asks and odd are what was read in its result.
	looked bool
	asks   *round
	odd    error
}

type commandTransport struct{ command conn.Command }

// Command is the way to a server that runs as a child process, started by Connect
// and ended by Close: see conn.Spawn.
func Command(command conn.Command) Transport { return commandTransport{command} }

func (t commandTransport) open(ctx context.Context, c *Client) (link, error) {
	return newConnLink(c, func(o conn.Options) (*conn.Conn, error) { return conn.Spawn(ctx, t.command, o) })
}

func (t commandTransport) peer() string {
	return "command\x00" + t.command.Dir + "\x00" + t.command.Path + "\x00" + strings.Join(t.command.Args, "\x00")
}

func (t commandTransport) reopens() bool { return true }

type dialTransport struct{ network, address string }

// Dial is the way to a server that listens on a socket, with a message a line:
// see conn.Dial for the networks.
func Dial(network, address string) Transport { return dialTransport{network, address} }

func (t dialTransport) open(ctx context.Context, c *Client) (link, error) {
	return newConnLink(c, func(o conn.Options) (*conn.Conn, error) { return conn.Dial(ctx, t.network, t.address, o) })
}

func (t dialTransport) peer() string  { return t.network + "\x00" + t.address }
func (t dialTransport) reopens() bool { return true }

type streamTransport struct{ stream io.ReadWriteCloser }

// Stream is the way to a server at the other end of stream, which belongs to the
// client from Connect on.
func Stream(stream io.ReadWriteCloser) Transport { return streamTransport{stream} }

func (t streamTransport) open(_ context.Context, c *Client) (link, error) {
	return newConnLink(c, func(o conn.Options) (*conn.Conn, error) { return conn.New(t.stream, o) })
}

func (t streamTransport) peer() string  { return "" }
func (t streamTransport) reopens() bool { return false }
