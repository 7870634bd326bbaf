package node

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/downstream"
)

// place is where clients come in, or the status page is.
type place struct {
	key    string // names its socket; "" is standard input and output
	from   any    // all that it was made of, to be compared
	at     string
	host   string // of TCP, with the port as the file has it
	aside  bool   // it brings no clients: the status page
	status bool   // the page is at its root
	tls    *downstream.TLS
	front  *front                                                    // over HTTP, else nil
	bind   func(ctx context.Context, p *place) (net.Listener, error) // opens the socket; nil if it has none
	serve  func(ctx context.Context, l net.Listener) error           // until ctx ends or the listener fails
	door   *door
}

// bound is what of the clients' bounds a listener is made with.
type bound struct {
	listen              config.Listen
	buffer, frame, most int
	plain, page         bool
}

func (n *Node) listeners(c *config.Config) ([]*place, error) {
	var out []*place
	times := map[string]int{}
	for i := range c.Listen {
		p, err := n.listener(c, &c.Listen[i])
		if err != nil {
			return nil, c.Mistake("listen["+itoa(i)+"]", err.Error())
		}
		if p.key != "" { // several may have their ports from the system
			times[p.key]++
			p.key += "#" + itoa(times[p.key])
		}
		p.from = bound{c.Listen[i], c.Clients.Buffer, c.Clients.Frame, c.Clients.Most, c.SpeaksPlain(), c.Status.Address == ""}
		out = append(out, p)
	}
	if a := c.Status.Address; a != "" && a != "none" {
		p := &place{key: a + "#1", from: "status", at: "http://" + a + "/", aside: true, status: true}
		p.bind = func(ctx context.Context, p *place) (net.Listener, error) { return p.tcp(ctx, a, c.Status.Open) }
		p.serve = func(ctx context.Context, l net.Listener) error {
			return downstream.ServeHTTP(ctx, l, n.board, downstream.ServerOptions{}, func() error {
				if ctx.Err() == nil {
					return nil // the page is somewhere else now
				}
				return n.board.Close()
			})
		}
		out = append(out, p)
	}
	return out, nil
}

func (n *Node) listener(c *config.Config, l *config.Listen) (*place, error) {
	u, err := url.Parse(l.Address)
	if err != nil {
		return nil, errNoAddress
	}
	p := &place{at: l.Address, key: u.Host, host: u.Host}
	duplex := downstream.Options{
		MaxConnections: c.Clients.Most, Identity: l.Identity,
		Conn: conn.Options{WriteBuffer: c.Clients.Buffer, MaxFrame: c.Clients.Frame},
	}
	serve := func(ctx context.Context, at net.Listener) error { return downstream.Listen(ctx, n.gateway, at, duplex) }
	switch u.Scheme {
	case "stdio":
		p.serve = func(ctx context.Context, _ net.Listener) error { return downstream.Stdio(ctx, n.gateway, duplex) }
		return p, nil
	case "unix":
		path := filepath.FromSlash(u.Opaque + u.Path)
		p.key, p.serve = "unix:"+path, serve
		p.bind = func(ctx context.Context, _ *place) (net.Listener, error) { return listenUnix(ctx, path) }
		return p, nil
	case "tcp":
		p.serve = serve
		p.bind = func(ctx context.Context, p *place) (net.Listener, error) { return p.tcp(ctx, u.Host, l.Open) }
		return p, nil
	}
	return p, n.web(c, l, u, p, duplex)
}

// web serves Streamable HTTP and WebSockets at the path of u, and what belongs beside it.
func (n *Node) web(c *config.Config, l *config.Listen, u *url.URL, p *place, duplex downstream.Options) error {
	o := downstream.HTTPOptions{Plain: c.SpeaksPlain(), Verifier: &visitors{n, l.Identity}}
	o.Front.Detach = true
	o.Front.AllowedHosts, o.Front.AllowedOrigins = l.Hosts, l.Origins
	o.Limits.MaxFrame, o.Limits.MaxConnections, o.Limits.WriteBuffer = c.Clients.Frame, c.Clients.Most, c.Clients.Buffer
	o.WebSocket.Conn, o.WebSocket.MaxConnections = duplex.Conn, c.Clients.Most
	endpoint, err := downstream.NewEndpoint(n.gateway, o)
	if err != nil {
		return err
	}
	server := downstream.ServerOptions{MaxConnections: c.Clients.Most}
	if l.TLS != nil {
		files := downstream.TLSFiles{Cert: l.TLS.Cert, Key: l.TLS.Key, ClientCAs: l.TLS.CA}
		if l.TLS.CA != "" {
			files.Clients = downstream.NeedCertificates
		}
		if p.tls, err = downstream.LoadTLS(files); err != nil {
			return err
		}
		server.TLS = p.tls.Config()
	}
	path := u.Path
	if path == "" {
		path = "/"
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", n.board.Health)
	mux.HandleFunc("/readyz", n.board.Ready)
	mux.HandleFunc("/.well-known/oauth-protected-resource", n.metadata)
	mux.HandleFunc("/.well-known/oauth-protected-resource/", n.metadata)
	if c.Status.Address == "" && path != "/" && l.TLS == nil && downstream.IsLoopback(u.Host) {
		p.status = true
		mux.Handle("/", n.board)
	}
	mux.Handle(path, endpoint)
	p.front = &front{handler: mux, endpoint: endpoint}
	p.bind = func(ctx context.Context, p *place) (net.Listener, error) { return p.tcp(ctx, u.Host, l.Open) }
	p.serve = func(ctx context.Context, at net.Listener) error {
		return downstream.ServeHTTP(ctx, at, p.front, server, func() error {
			if ctx.Err() == nil {
				return nil // sessions that began here may go on elsewhere
			}
			return errors.Join(p.front.close(), n.board.Close())
		})
	}
	return nil
}

// page is the address of the status page here, "" if it is not.
func (p *place) page() string {
	u, err := url.Parse(p.at)
	if !p.status || err != nil {
		return ""
	}
	u.Path = "/"
	return u.String()
}

// tcp listens, and puts the port into the address.
func (p *place) tcp(ctx context.Context, address string, open bool) (net.Listener, error) {
	l, err := downstream.Bind(ctx, address, open)
	if err == nil {
		p.named(l, address)
	}
	return l, err
}

// named puts the port of l into the address, where the system was to choose it.
func (p *place) named(l net.Listener, address string) {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if before, found := strings.CutSuffix(address, ":0"); found {
		p.at = strings.Replace(p.at, address, before+":"+port, 1)
	}
}

// listenUnix listens, in the place of a socket that nobody listens at any more.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if c, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
			_ = c.Close()
			return nil, errors.New("unix:" + path + ": somebody listens there already")
		}
		_ = os.Remove(path)
	}
	return new(net.ListenConfig).Listen(ctx, "unix", path)
}

// ended takes an end that was asked for, or that a client chose, for none of ours.
func ended(err error) error {
	if errors.Is(err, gateway.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, conn.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
