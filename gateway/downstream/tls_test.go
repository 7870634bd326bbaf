package downstream_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/downstream"
)

// authority signs certificates and puts them into files.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
	next int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir(), pool: x509.NewCertPool(), next: 1}
	a.sign("ca", true)
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// sign writes name.pem and name.key.
func (a *authority) sign(name string, isCA bool) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	a.next++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.next), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: isCA, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, by := a.cert, a.key
	if isCA {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	require.NoError(a.t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	require.NoError(a.t, os.WriteFile(a.file(name+".pem"), certPEM, 0o600))
	require.NoError(a.t, os.WriteFile(a.file(name+".key"), keyPEM, 0o600))
	if isCA {
		a.cert, err = x509.ParseCertificate(der)
		require.NoError(a.t, err)
		a.key = key
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(a.t, err)
	return pair
}

func (a *authority) files(clients downstream.ClientCertificates) downstream.TLSFiles {
	return downstream.TLSFiles{Cert: a.file("server.pem"), Key: a.file("server.key"), ClientCAs: a.file("ca.pem"), Clients: clients}
}

// by makes the client one that knows the authority, and shows a certificate if there is one.
func (w *web) by(a *authority, h2 bool, shown ...tls.Certificate) {
	w.client.CloseIdleConnections()
	w.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pool, Certificates: shown, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: h2}
}

func TestTLS(t *testing.T) {
	a := newAuthority(t)
	a.sign("server", false)
	keys, err := downstream.LoadTLS(a.files(downstream.NoCertificates))
	require.NoError(t, err)
	w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, downstream.HTTPOptions{}, downstream.ServerOptions{TLS: keys.Config()})
	for _, h2 := range []bool{false, true} {
		w.by(a, h2)
		answer := w.call("1", "x")
		id, _ := w.server.Way(0).NextRequest()
		w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete"}}`)
		r := <-answer
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`, r.all())
		require.Equal(t, h2, r.ProtoMajor == 2)
	}
	old, err := w.client.Get("http://" + w.address + "/mcp") //nolint:noctx // it is refused at once
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, old.StatusCode, "plain HTTP is not served")
	require.NoError(t, old.Body.Close())

	// A certificate that is renewed is served without a new listener; one that cannot be
	// read changes nothing.
	renewed := a.sign("server", false)
	require.NoError(t, keys.Reload())
	c, err := (&tls.Dialer{Config: &tls.Config{RootCAs: a.pool}}).DialContext(t.Context(), "tcp", w.address)
	require.NoError(t, err)
	require.Equal(t, renewed.Certificate[0], c.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw)
	require.NoError(t, c.Close())
	require.NoError(t, os.WriteFile(a.file("server.key"), []byte("rubbish"), 0o600))
	require.ErrorContains(t, keys.Reload(), "server.key")
	c, err = (&tls.Dialer{Config: &tls.Config{RootCAs: a.pool}}).DialContext(t.Context(), "tcp", w.address)
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

// Mutual TLS says who clients are.
func TestMutualTLS(t *testing.T) {
	a, strange := newAuthority(t), newAuthority(t)
	a.sign("server", false)
	alice, mallory := a.sign("alice", false), strange.sign("alice", false)
	keys, err := downstream.LoadTLS(a.files(downstream.NeedCertificates))
	require.NoError(t, err)
	w := serveWeb(t, gateway.Upstream{Isolation: gateway.PerIdentity}, downstream.HTTPOptions{Verifier: auth.Certificates{}}, downstream.ServerOptions{TLS: keys.Config()})
	w.by(a, false, alice)
	answer := w.call("1", "x")
	id, _ := w.server.Way(0).NextRequest()
	require.Equal(t, "cert#CN=alice", w.server.Way(0).Key.Identity)
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete"}}`)
	require.Equal(t, http.StatusOK, (<-answer).StatusCode)
	for name, shown := range map[string][]tls.Certificate{"none": nil, "another authority's": {mallory}} {
		w.by(a, false, shown...)
		r, drop := w.request(http.MethodPost, hello)
		_, err := w.client.Do(r) //nolint:bodyclose // there is none
		drop()
		require.Error(t, err, name)
	}
}

func TestTLSFilesThatCannotBe(t *testing.T) {
	a := newAuthority(t)
	a.sign("server", false)
	good := a.files(downstream.NeedCertificates)
	for name, change := range map[string]func(f *downstream.TLSFiles){
		"no certificate": func(f *downstream.TLSFiles) { f.Cert = a.file("none.pem") },
		"another's key":  func(f *downstream.TLSFiles) { f.Key = a.file("ca.key") },
		"no authorities": func(f *downstream.TLSFiles) { f.ClientCAs = a.file("none.pem") },
		"a key as those": func(f *downstream.TLSFiles) { f.ClientCAs = a.file("ca.key") },
		"an old version": func(f *downstream.TLSFiles) { f.MinVersion = tls.VersionTLS10 },
		"unknown":        func(f *downstream.TLSFiles) { f.Clients = 9 },
	} {
		f := good
		change(&f)
		_, err := downstream.LoadTLS(f)
		require.Error(t, err, name)
	}
	_, err := downstream.LoadTLS(good)
	require.NoError(t, err)
}
