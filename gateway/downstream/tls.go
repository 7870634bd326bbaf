package downstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// ClientCertificates says what is asked of clients on a TLS listener.
type ClientCertificates uint8

// What may be asked. Zero is nothing.
const (
	// NoCertificates are looked at.
	NoCertificates ClientCertificates = iota
	// WantCertificates verifies those that are shown; who shows none may come as well.
	WantCertificates
	// NeedCertificates lets nobody in without a good one.
	NeedCertificates
)

// TLSFiles are the files of a TLS listener, all PEM.
type TLSFiles struct {
	// Cert is the certificate with its chain, Key its private key. Required.
	Cert, Key string
	// ClientCAs are the authorities of clients' certificates, needed when Clients asks
	// for some.
	ClientCAs string
	Clients   ClientCertificates
	// MinVersion is tls.VersionTLS12 or tls.VersionTLS13; zero is tls.VersionTLS12.
	MinVersion uint16
}

// TLS is what a listener serves with. It may be loaded anew while it is in use.
type TLS struct {
	files TLSFiles
	now   atomic.Pointer[tls.Config]
}

// LoadTLS reads the files. The error names the one that is wrong.
func LoadTLS(f TLSFiles) (*TLS, error) {
	t := &TLS{files: f}
	return t, t.Reload()
}

// Reload reads the files again: connections from here on are served with what they say.
// On an error nothing has changed.
func (t *TLS) Reload() error {
	c, err := t.files.load()
	if err != nil {
		return err
	}
	t.now.Store(c)
	return nil
}

// Config is for ServerOptions.TLS and for tls.NewListener. It follows Reload.
func (t *TLS) Config() *tls.Config {
	c := t.now.Load().Clone()
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return t.now.Load(), nil }
	return c
}

func (f *TLSFiles) load() (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("tls: %s, %s: %w", f.Cert, f.Key, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if f.MinVersion != 0 {
		if f.MinVersion != tls.VersionTLS12 && f.MinVersion != tls.VersionTLS13 {
			return nil, errors.New("tls: the least version is 1.2 or 1.3")
		}
		c.MinVersion = f.MinVersion
	}
	switch f.Clients {
	case NoCertificates:
		return c, nil
	case WantCertificates:
		c.ClientAuth = tls.VerifyClientCertIfGiven
	case NeedCertificates:
		c.ClientAuth = tls.RequireAndVerifyClientCert
	default:
		return nil, fmt.Errorf("tls: unknown ClientCertificates(%d)", f.Clients)
	}
	text, err := os.ReadFile(f.ClientCAs)
	if err != nil {
		return nil, fmt.Errorf("tls: authorities of clients: %w", err)
	}
	c.ClientCAs = x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls: %s holds no certificate", f.ClientCAs)
	}
	return c, nil
}
