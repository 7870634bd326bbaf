package auth_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/serve"
)

// asking is a request with these Authorization headers.
func asking(lines ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "https://gateway.test/mcp", nil)
	for _, l := range lines {
		r.Header.Add("Authorization", l)
	}
	return r
}

// refused is the error of a refusal.
func refused(t *testing.T, err error) *serve.HTTPError {
	t.Helper()
	e, ok := errors.AsType[*serve.HTTPError](err)
	require.Truef(t, ok, "%v", err)
	return e
}

func TestTokens(t *testing.T) {
	first, hashed := auth.NewToken()
	second, other := auth.NewToken()
	require.NotEqual(t, first, second)
	require.Equal(t, hashed, auth.HashToken(first))
	tokens, err := auth.NewTokens([]auth.Token{{Name: "alice", Hash: hashed, Scopes: []string{"a"}}, {Name: "bob", Hash: other}})
	require.NoError(t, err)

	who, err := tokens.Verify(t.Context(), asking("Bearer "+first))
	require.NoError(t, err)
	require.Equal(t, auth.Identity{Name: "alice", Scopes: []string{"a"}}, who)
	who, err = tokens.Verify(t.Context(), asking("bearer  "+second))
	require.NoError(t, err)
	require.Equal(t, "bob", who.Name)

	for name, lines := range map[string][]string{
		"none": nil, "another scheme": {"Basic " + first}, "nothing behind": {"Bearer "}, "the hash itself": {"Bearer " + hashed},
		"the hash's digits": {"Bearer " + strings.TrimPrefix(hashed, "sha256:")}, "cut": {"Bearer " + first[:len(first)-1]},
		"longer": {"Bearer " + first + "0"}, "two": {"Bearer " + first, "Bearer " + second}, "huge": {"Bearer " + strings.Repeat("x", 1<<20)},
		"padded": {"Bearer " + first + " "},
	} {
		who, err := tokens.Verify(t.Context(), asking(lines...))
		e := refused(t, err)
		require.Equal(t, http.StatusUnauthorized, e.Status, name)
		require.True(t, strings.HasPrefix(e.Challenge, "Bearer"), name)
		require.Empty(t, who.Name, name)
		require.NotContains(t, err.Error(), first, name)
	}
	r := httptest.NewRequest(http.MethodPost, "https://gateway.test/mcp?access_token="+first, nil)
	_, err = tokens.Verify(t.Context(), r)
	require.Error(t, err, "addresses end up in logs")
}

func TestTokensThatCannotBe(t *testing.T) {
	_, hash := auth.NewToken()
	for name, k := range map[string]auth.Token{
		"no name": {Hash: hash}, "a name of another kind": {Name: "a#b", Hash: hash}, "plain": {Name: "a", Hash: "s3cret"},
		"short": {Name: "a", Hash: "sha256:00"}, "no digits": {Name: "a", Hash: "sha256:" + strings.Repeat("x", 64)},
	} {
		_, err := auth.NewTokens([]auth.Token{{Name: "good", Hash: hash}, k})
		require.Error(t, err, name)
		require.Contains(t, err.Error(), "token 1", name)
		require.NotContains(t, err.Error(), "s3cret", name)
	}
}

func TestAny(t *testing.T) {
	token, hash := auth.NewToken()
	tokens, err := auth.NewTokens([]auth.Token{{Name: "alice", Hash: hash}})
	require.NoError(t, err)
	both := auth.Any{auth.Certificates{}, tokens}
	require.Equal(t, "certificates|tokens", both.String())
	who, err := both.Verify(t.Context(), asking("Bearer "+token))
	require.NoError(t, err)
	require.Equal(t, "alice", who.Name)
	_, err = both.Verify(t.Context(), asking())
	require.Contains(t, refused(t, err).Challenge, "Bearer")
	_, err = auth.Any{}.Verify(t.Context(), asking("Bearer "+token))
	require.Error(t, err, "nobody is let in by nobody")
}

func TestCertificates(t *testing.T) {
	r := asking()
	_, err := auth.Certificates{}.Verify(t.Context(), r)
	require.Equal(t, http.StatusUnauthorized, refused(t, err).Status)
	shown := &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}}
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{shown}}
	_, err = auth.Certificates{}.Verify(t.Context(), r)
	require.Error(t, err, "shown, but by no authority of ours")
	r.TLS.VerifiedChains = [][]*x509.Certificate{{shown}}
	who, err := auth.Certificates{}.Verify(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, "cert#CN=alice", who.Name)
	r.TLS.VerifiedChains = [][]*x509.Certificate{{{}}}
	_, err = auth.Certificates{}.Verify(t.Context(), r)
	require.Equal(t, http.StatusForbidden, refused(t, err).Status)
}

func TestRedact(t *testing.T) {
	token, _ := auth.NewToken()
	for _, secret := range []string{token, "abcdefghij", "eyJhbGciOi.eyJpc3Mi.c2ln", "hunter2hunter2"} {
		for _, text := range []string{"Authorization: Bearer %", "dial https://user:%@host/x: refused", "GET /x?access_token=%&y=1", "api_key=% ", "client_secret=%"} {
			text = strings.ReplaceAll(text, "%", secret)
			require.NotContains(t, auth.Redact(text), secret, text)
		}
	}
	require.NotContains(t, auth.Redact("it said "+token+"!"), token)
	require.Equal(t, `upstream "a": exit status 1 after 3ms`, auth.Redact(`upstream "a": exit status 1 after 3ms`))

	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: auth.RedactAttr}))
	log.Info("call", "Authorization", "x", "err", errors.New("bearer "+token), "note", token, "method", "tools/call",
		"header", http.Header{"Mcp-Session-Id": {"s3ss10n"}, "Accept": {"*/*"}})
	for _, secret := range []string{token, "s3ss10n", "Authorization=x"} {
		require.NotContains(t, out.String(), secret)
	}
	require.Contains(t, out.String(), "method=tools/call")
	require.Contains(t, out.String(), "*/*")
}
