package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/link"
)

// TLS says whom to trust and who we are, in files, as configurations have it. The zero
// value trusts the system's roots and shows no certificate.
type TLS struct {
	// Roots is a file of certificates in PEM that are trusted in the place of the
	// system's.
	Roots string
	// Certificate and Key are ours, in PEM, for servers that ask for one. They are
	// read anew for each handshake, so that they can be renewed.
	Certificate, Key string
	// ServerName is the name that the server's certificate must be for; "" is that of
	// the address.
	ServerName string
}

// Config reads the files and makes what client.HTTP, WebSocketOptions.Dial and DialTLS
// take. The error names the file.
func (t TLS) Config() (*tls.Config, error) {
	c := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.Roots != "" {
		text, err := os.ReadFile(t.Roots)
		if err != nil {
			return nil, fmt.Errorf("upstream: roots: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("upstream: roots: %s has no certificate in PEM", t.Roots)
		}
	}
	if (t.Certificate == "") != (t.Key == "") {
		return nil, fmt.Errorf("upstream: a certificate and its key come together: have %q and %q", t.Certificate, t.Key)
	}
	if t.Certificate != "" {
		if _, err := tls.LoadX509KeyPair(t.Certificate, t.Key); err != nil {
			return nil, fmt.Errorf("upstream: certificate %s: %w", t.Certificate, err)
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
			if err != nil {
				return nil, err
			}
			return &pair, nil
		}
	}
	return c, nil
}

// DialTLS is the way to a server that listens on a TCP address with TLS, a message a
// line. config may be nil.
func DialTLS(address string, config *tls.Config, o conn.Options) link.Opener {
	return &duplexOpener{
		name: "tls://" + address, o: o,
		connect: func(ctx context.Context, o conn.Options) (*conn.Conn, error) {
			stream, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, err
			}
			return conn.New(stream, o)
		},
	}
}
