package upstream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// serverOf is a configuration that asks for certificates of this authority.
func serverOf(a *fake.Authority) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{a.Sign("server")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.Pool}
}

// names answers each request with a text, over lines.
func names(stream io.ReadWriteCloser, text string) {
	defer stream.Close()
	in := bufio.NewScanner(stream)
	for in.Scan() {
		if m, err := codec.Parse(in.Bytes(), codec.ScanOptions{}); err == nil && m.Kind == codec.KindRequest {
			_, _ = fmt.Fprintf(stream, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%q}\n", m.RawID(), text)
		}
	}
}

// Over each transport: without our certificate the server does not talk to us, with it
// it does and sees who we are; a certificate that was renewed is shown at the next
// handshake.
func TestTLSEachTransport(t *testing.T) {
	a := fake.NewAuthority(t)
	config := serverOf(a)
	a.Sign("ours")

	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				if s := c.(*tls.Conn); s.HandshakeContext(context.Background()) == nil {
					names(s, s.ConnectionState().PeerCertificates[0].Subject.CommonName)
					return
				}
				_ = c.Close()
			}()
		}
	}()
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.TLS.PeerCertificates[0].Subject.CommonName
		if r.Header.Get("Upgrade") != "" {
			s, err := websocket.Accept(w, r, websocket.AcceptOptions{})
			if err != nil {
				return
			}
			c, err := s.Conn(conn.Options{Profile: codec.JSONRPC, Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
				_ = r.Reply([]byte(fmt.Sprintf("%q", name)))
			})})
			if err == nil {
				<-c.Done()
			}
			return
		}
		body, _ := io.ReadAll(r.Body)
		if m, err := codec.Parse(body, codec.ScanOptions{}); err == nil && m.Kind == codec.KindRequest {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%q}`, m.RawID(), name)
		}
	}))
	web.Config.ErrorLog = quiet()
	web.TLS = config.Clone()
	web.StartTLS()
	defer web.Close()

	for _, transport := range []string{"tls", "wss", "https"} {
		open := func(config upstream.TLS) link.Opener {
			c, err := config.Config()
			require.NoError(t, err)
			switch transport {
			case "tls":
				return upstream.DialTLS(listener.Addr().String(), c, conn.Options{})
			case "wss":
				o, err := upstream.WebSocket("wss"+strings.TrimPrefix(web.URL, "https"), upstream.WebSocketOptions{Dial: websocket.DialOptions{TLS: c}})
				require.NoError(t, err)
				return o
			}
			o, err := upstream.HTTP(client.HTTP{Endpoint: web.URL, TLS: c}, upstream.HTTPOptions{})
			require.NoError(t, err)
			return o
		}
		ask := func(config upstream.TLS) string {
			g := over(t, open(config), gateway.Upstream{Isolation: gateway.Shared, Plain: true}, gateway.Options{})
			defer func() { _ = g.Close() }()
			c := join(g)
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"who"}`))
			return c.Next()
		}
		t.Run(transport, func(t *testing.T) {
			require.Contains(t, ask(upstream.TLS{}), "certificate", "nobody knows this authority")
			require.Contains(t, ask(upstream.TLS{Roots: a.Path("ca.pem")}), `"error"`)
			ours := upstream.TLS{Roots: a.Path("ca.pem"), Certificate: a.Path("ours.pem"), Key: a.Path("ours.key")}
			require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"ours"}`, ask(ours))
			named := ours
			named.ServerName = "server.test"
			require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"ours"}`, ask(named))
			named.ServerName = "another.test"
			require.Contains(t, ask(named), "another.test")
		})
	}
}

// What is wrong in the files is told by name, before anything is opened.
func TestTLSFiles(t *testing.T) {
	a := fake.NewAuthority(t)
	a.Sign("ours")
	for _, c := range []upstream.TLS{
		{Roots: a.Path("none.pem")}, {Roots: a.Path("ours.key")}, {Certificate: a.Path("ours.pem"), Key: a.Path("ca.pem")},
	} {
		_, err := c.Config()
		require.ErrorContains(t, err, a.Path(""), c)
	}
	_, err := upstream.TLS{Certificate: a.Path("ours.pem")}.Config()
	require.ErrorContains(t, err, "come together")
}
