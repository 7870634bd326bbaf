package websocket

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	ws "github.com/coder/websocket"
)

// DialOptions of a client. The zero value will do.
type DialOptions struct {
	Options
	// Header goes out with the handshake: authorization, an origin, cookies.
	Header http.Header
	// Subprotocols are offered, the preferred first.
	Subprotocols []string
	// TLS is for wss. Nil is the system's roots and the name in the URL. It is
	// cloned.
	TLS *tls.Config
	// Proxy gives the proxy for a request; nil goes by the environment, as
	// http.ProxyFromEnvironment does.
	Proxy func(*http.Request) (*url.URL, error)
	// NetDial makes the connection below; nil is that of net.Dialer.
	NetDial func(ctx context.Context, network, address string) (net.Conn, error)
}

// HandshakeError says that the server did not agree to speak WebSocket.
type HandshakeError struct {
	// Status is that of the server's answer; 0 when none came.
	Status int
	// Body is the beginning of the answer, at most 1 KiB.
	Body []byte
	// Err is what went wrong.
	Err error
}

// Error gives the status and what went wrong.
func (e *HandshakeError) Error() string {
	if e.Status == 0 {
		return "websocket: " + e.Err.Error()
	}
	return fmt.Sprintf("websocket: the server answered %d: %v", e.Status, e.Err)
}

// Unwrap gives Err.
func (e *HandshakeError) Unwrap() error { return e.Err }

// Dial connects to a ws or wss URL. ctx bounds the dialling and the handshake only.
// The error is a *HandshakeError.
func Dial(ctx context.Context, url string, o DialOptions) (*Stream, error) {
	netDial := o.NetDial
	if netDial == nil {
		netDial = new(net.Dialer).DialContext
	}
	proxy := o.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	// HTTP/2 has no such handshake; a transport with a dialler of its own does not
	// offer it.
	transport := &http.Transport{
		Proxy:           proxy,
		TLSClientConfig: o.TLS.Clone(),
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := netDial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return newLink(c), nil
		},
	}
	var used atomic.Pointer[link]
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		used.Store(linkBelow(got.Conn))
	}})
	socket, answer, err := ws.Dial(ctx, url, &ws.DialOptions{
		HTTPClient: &http.Client{Transport: &upgrades{transport}}, HTTPHeader: o.Header, Subprotocols: o.Subprotocols,
		CompressionMode: o.compression(),
	})
	if err != nil {
		e := &HandshakeError{Err: err}
		if answer != nil {
			e.Status = answer.StatusCode
			e.Body, _ = io.ReadAll(io.LimitReader(answer.Body, 1<<10)) // what there is of it
			_ = answer.Body.Close()
		}
		transport.CloseIdleConnections()
		return nil, e
	}
	return newStream(socket, used.Load(), o.Options), nil
}

// linkBelow finds the link below TLS, if there is any.
func linkBelow(c net.Conn) *link {
	for {
		switch below := c.(type) {
		case *link:
			return below
		case interface{ NetConn() net.Conn }:
			c = below.NetConn()
		default:
			return nil
		}
	}
}
