package downstream_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

func files(a *fake.Authority, clients downstream.ClientCertificates) downstream.TLSFiles {
	return downstream.TLSFiles{Cert: a.Path("server.pem"), Key: a.Path("server.key"), ClientCAs: a.Path("ca.pem"), Clients: clients}
}

// by makes the client one that knows the authority, and shows a certificate if there is one.
func (w *web) by(a *fake.Authority, h2 bool, shown ...tls.Certificate) {
	w.client.CloseIdleConnections()
	w.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Pool, Certificates: shown, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: h2}
}

func TestTLS(t *testing.T) {
	a := fake.NewAuthority(t)
	a.Sign("server")
	keys, err := downstream.LoadTLS(files(a, downstream.NoCertificates))
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
	renewed := a.Sign("server")
	require.NoError(t, keys.Reload())
	c, err := (&tls.Dialer{Config: &tls.Config{RootCAs: a.Pool}}).DialContext(t.Context(), "tcp", w.address)
	require.NoError(t, err)
	require.Equal(t, renewed.Certificate[0], c.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw)
	require.NoError(t, c.Close())
	require.NoError(t, os.WriteFile(a.Path("server.key"), []byte("rubbish"), 0o600))
	require.ErrorContains(t, keys.Reload(), "server.key")
	c, err = (&tls.Dialer{Config: &tls.Config{RootCAs: a.Pool}}).DialContext(t.Context(), "tcp", w.address)
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

// Mutual TLS says who clients are.
func TestMutualTLS(t *testing.T) {
	a, strange := fake.NewAuthority(t), fake.NewAuthority(t)
	a.Sign("server")
	alice, mallory := a.Sign("alice"), strange.Sign("alice")
	keys, err := downstream.LoadTLS(files(a, downstream.NeedCertificates))
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
	a := fake.NewAuthority(t)
	a.Sign("server")
	good := files(a, downstream.NeedCertificates)
	for name, change := range map[string]func(f *downstream.TLSFiles){
		"no certificate": func(f *downstream.TLSFiles) { f.Cert = a.Path("none.pem") },
		"another's key":  func(f *downstream.TLSFiles) { f.Key = a.Path("ca.key") },
		"no authorities": func(f *downstream.TLSFiles) { f.ClientCAs = a.Path("none.pem") },
		"a key as those": func(f *downstream.TLSFiles) { f.ClientCAs = a.Path("ca.key") },
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
