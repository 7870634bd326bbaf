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
	at       string
	aside    bool // it brings no clients: the status page
	status   bool // the page is at its root
	tls      *downstream.TLS
	bind     func(ctx context.Context, p *place) error // opens the listener
	serve    func(ctx context.Context) error           // until ctx ends or its listener fails
	listener net.Listener
}

func (n *Node) listeners(c *config.Config) ([]*place, error) {
	var out []*place
	for i := range c.Listen {
		p, err := n.listener(c, &c.Listen[i])
		if err != nil {
			return nil, c.Mistake("listen["+itoa(i)+"]", err.Error())
		}
		out = append(out, p)
	}
	if a := c.Status.Address; a != "" && a != "none" {
		p := &place{at: "http://" + a + "/", aside: true, status: true}
		p.bind = func(ctx context.Context, p *place) error { return p.tcp(ctx, a, c.Status.Open) }
		p.serve = func(ctx context.Context) error {
			return ended(downstream.ServeHTTP(ctx, p.listener, n.board, downstream.ServerOptions{}, n.board.Close))
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
	p := &place{at: l.Address, bind: func(context.Context, *place) error { return nil }}
	duplex := downstream.Options{
		MaxConnections: c.Clients.Most, Identity: l.Identity,
		Conn: conn.Options{WriteBuffer: c.Clients.Buffer, MaxFrame: c.Clients.Frame},
	}
	switch u.Scheme {
	case "stdio":
		p.serve = func(ctx context.Context) error { return ended(downstream.Stdio(ctx, n.gateway, duplex)) }
		return p, nil
	case "unix":
		path := filepath.FromSlash(u.Opaque + u.Path)
		p.bind = func(ctx context.Context, p *place) error { return p.unix(ctx, path) }
		p.serve = func(ctx context.Context) error { return ended(downstream.Listen(ctx, n.gateway, p.listener, duplex)) }
		return p, nil
	case "tcp":
		p.bind = func(ctx context.Context, p *place) error { return p.tcp(ctx, u.Host, l.Open) }
		p.serve = func(ctx context.Context) error { return ended(downstream.Listen(ctx, n.gateway, p.listener, duplex)) }
		return p, nil
	}
	return p, n.web(c, l, u, p, duplex)
}

// web serves Streamable HTTP and WebSockets at the path of u, and what belongs beside it.
func (n *Node) web(c *config.Config, l *config.Listen, u *url.URL, p *place, duplex downstream.Options) error {
	o := downstream.HTTPOptions{Identity: l.Identity, Plain: c.SpeaksPlain()}
	o.Front.AllowedHosts, o.Front.AllowedOrigins = l.Hosts, l.Origins
	o.Limits.MaxFrame, o.Limits.MaxConnections, o.Limits.WriteBuffer = c.Clients.Frame, c.Clients.Most, c.Clients.Buffer
	o.WebSocket.Conn, o.WebSocket.MaxConnections = duplex.Conn, c.Clients.Most
	if c.Auth != nil {
		o.Verifier = n
	}
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
	p.bind = func(ctx context.Context, p *place) error { return p.tcp(ctx, u.Host, l.Open) }
	p.serve = func(ctx context.Context) error {
		return ended(downstream.ServeHTTP(ctx, p.listener, mux, server, func() error {
			return errors.Join(endpoint.Close(), n.board.Close())
		}))
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
func (p *place) tcp(ctx context.Context, address string, open bool) (err error) {
	if p.listener, err = downstream.Bind(ctx, address, open); err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(p.listener.Addr().String())
	if before, found := strings.CutSuffix(address, ":0"); found {
		p.at = strings.Replace(p.at, address, before+":"+port, 1)
	}
	return nil
}

// unix listens, in the place of a socket that nobody listens at any more.
func (p *place) unix(ctx context.Context, path string) (err error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if c, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
			_ = c.Close()
			return errors.New("unix:" + path + ": somebody listens there already")
		}
		_ = os.Remove(path)
	}
	p.listener, err = new(net.ListenConfig).Listen(ctx, "unix", path)
	return err
}

// bind opens every listener, or none.
func (n *Node) bind(ctx context.Context) error {
	for i, p := range n.places {
		if err := p.bind(ctx, p); err != nil {
			for _, opened := range n.places[:i] {
				if opened.listener != nil {
					_ = opened.listener.Close()
				}
			}
			return err
		}
	}
	return nil
}

// ended takes an end that was asked for, or that a client chose, for none of ours.
func ended(err error) error {
	if errors.Is(err, gateway.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, conn.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
