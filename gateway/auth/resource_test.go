package auth_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/auth"
)

const resource = "https://gateway.test/mcp"

// issuer is an authorization server.
type issuer struct {
	*httptest.Server
	fetches atomic.Int64 // of keys

	mu   sync.Mutex // guards keys
	keys map[string]ed25519.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{keys: make(map[string]ed25519.PrivateKey)}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/a", "token_endpoint": i.URL + "/t"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.fetches.Add(1)
		i.mu.Lock()
		defer i.mu.Unlock()
		var keys []map[string]string
		for name, k := range i.keys {
			keys = append(keys, map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": name, "x": base64.RawURLEncoding.EncodeToString(k.Public().(ed25519.PublicKey))})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	i.key("one")
	return i
}

func (i *issuer) key(name string) {
	_, k, _ := ed25519.GenerateKey(rand.Reader)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys[name] = k
}

type fields map[string]any

// token signs what header and claims say; nil removes a member.
func (i *issuer) token(header, claims fields) string {
	h := fields{"alg": "EdDSA", "kid": "one", "typ": "at+jwt"}
	c := fields{"iss": i.URL, "sub": "alice", "aud": resource, "exp": epoch.Add(time.Hour).Unix(), "iat": epoch.Unix()}
	for name, v := range header {
		h[name] = v
	}
	for name, v := range claims {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	text := segment(h) + "." + segment(c)
	i.mu.Lock()
	defer i.mu.Unlock()
	k, ok := i.keys[h["kid"].(string)]
	if !ok {
		k = i.keys["one"]
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(k, []byte(text)))
}

func segment(v any) string {
	b, _ := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(b)
}

var epoch = time.Unix(1_800_000_000, 0)

func guard(t *testing.T, o auth.ResourceOptions) *auth.Resource {
	t.Helper()
	o.Resource = resource
	if o.Now == nil {
		o.Now = func() time.Time { return epoch }
	}
	o.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := auth.NewResource(o)
	require.NoError(t, err)
	return r
}

func TestResource(t *testing.T) {
	i := newIssuer(t)
	r := guard(t, auth.ResourceOptions{Issuers: []auth.Issuer{{URL: i.URL}}})
	who, err := r.Verify(t.Context(), asking("Bearer "+i.token(nil, fields{"scope": "tools read"})))
	require.NoError(t, err)
	require.Equal(t, auth.Identity{Name: i.URL + "#alice", Scopes: []string{"tools", "read"}}, who)
	who, err = r.Verify(t.Context(), asking("Bearer "+i.token(nil, fields{"aud": []string{"other", resource}, "scp": []string{"x"}})))
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, who.Scopes)
	require.EqualValues(t, 1, i.fetches.Load())
}

// What is not a token of the issuer's for this resource, now, lets nobody in.
func TestResourceRefuses(t *testing.T) {
	i, foreign := newIssuer(t), newIssuer(t)
	r := guard(t, auth.ResourceOptions{Issuers: []auth.Issuer{{URL: i.URL, Keys: i.URL + "/keys"}}})
	good := i.token(nil, nil)
	parts := strings.Split(good, ".")
	mac := hmac.New(sha256.New, []byte(parts[1]))
	for name, token := range map[string]string{
		"nothing in it":         "..",
		"no JWT":                "abc",
		"for another":           i.token(nil, fields{"aud": "https://other.test/mcp"}),
		"for a part of this":    i.token(nil, fields{"aud": resource + "/more"}),
		"for nobody":            i.token(nil, fields{"aud": nil}),
		"expired":               i.token(nil, fields{"exp": epoch.Add(-time.Second).Unix()}),
		"for ever":              i.token(nil, fields{"exp": nil}),
		"not yet":               i.token(nil, fields{"nbf": epoch.Add(time.Hour).Unix()}),
		"of nobody":             i.token(nil, fields{"sub": nil}),
		"of an unknown issuer":  foreign.token(nil, nil),
		"another's signature":   foreign.token(nil, fields{"iss": i.URL}),
		"without an algorithm":  segment(fields{"alg": "none"}) + "." + parts[1] + ".",
		"unsigned":              parts[0] + "." + parts[1] + ".",
		"symmetric":             segment(fields{"alg": "HS256", "kid": "one"}) + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"other claims":          parts[0] + "." + segment(fields{"iss": i.URL, "sub": "root", "aud": resource, "exp": epoch.Add(time.Hour).Unix()}) + "." + parts[2],
		"more behind":           good + ".x",
		"its issuer's own keys": i.token(fields{"jku": foreign.URL + "/keys", "kid": "mine"}, fields{"iss": foreign.URL}),
	} {
		who, err := r.Verify(t.Context(), asking("Bearer "+token))
		e := refused(t, err)
		require.Equal(t, http.StatusUnauthorized, e.Status, name)
		require.Contains(t, e.Challenge, `error="invalid_token"`, name)
		require.Contains(t, e.Challenge, `resource_metadata="https://gateway.test/.well-known/oauth-protected-resource/mcp"`, name)
		require.Empty(t, who.Name, name)
	}
	require.Zero(t, foreign.fetches.Load(), "nobody else's keys are asked for")
	_, err := r.Verify(t.Context(), asking())
	require.Equal(t, `Bearer resource_metadata="https://gateway.test/.well-known/oauth-protected-resource/mcp"`, refused(t, err).Challenge)
	_, err = r.Verify(t.Context(), asking("Bearer "+good))
	require.NoError(t, err)
}

func TestResourceScopes(t *testing.T) {
	i := newIssuer(t)
	r := guard(t, auth.ResourceOptions{Issuers: []auth.Issuer{{URL: i.URL}}, Scopes: []string{"mcp"}, Offered: []string{"mcp", "admin"}})
	_, err := r.Verify(t.Context(), asking("Bearer "+i.token(nil, fields{"scope": "mcpx read"})))
	e := refused(t, err)
	require.Equal(t, http.StatusForbidden, e.Status)
	require.Contains(t, e.Challenge, `error="insufficient_scope", scope="mcp"`)
	_, err = r.Verify(t.Context(), asking("Bearer "+i.token(nil, fields{"scope": "read mcp"})))
	require.NoError(t, err)
	_, err = r.Verify(t.Context(), asking())
	require.Contains(t, refused(t, err).Challenge, `scope="mcp"`)
}

// Keys change, and tokens with made-up keys cause no storm of fetches.
func TestResourceKeys(t *testing.T) {
	i := newIssuer(t)
	var now atomic.Int64
	r := guard(t, auth.ResourceOptions{
		Issuers: []auth.Issuer{{URL: i.URL}}, KeysPause: time.Minute,
		Now: func() time.Time { return epoch.Add(time.Duration(now.Load())) },
	})
	_, err := r.Verify(t.Context(), asking("Bearer "+i.token(nil, nil)))
	require.NoError(t, err)
	i.key("two")
	for n := range 100 {
		_, err = r.Verify(t.Context(), asking("Bearer "+i.token(fields{"kid": fmt.Sprint("made up ", n)}, nil)))
		require.Error(t, err)
	}
	require.EqualValues(t, 1, i.fetches.Load())
	now.Store(int64(time.Minute))
	// Whoever comes while the last fetch is being cleared away gets what that one got.
	require.Eventually(t, func() bool {
		_, err = r.Verify(t.Context(), asking("Bearer "+i.token(fields{"kid": "two"}, nil)))
		return err == nil
	}, 30*time.Second, time.Millisecond)
	require.EqualValues(t, 2, i.fetches.Load())
}

// An issuer that is down lets nobody in, is not asked again at once, and is when it may
// be up again.
func TestResourceWithoutIssuer(t *testing.T) {
	i := newIssuer(t)
	up := i.Config.Handler
	var down atomic.Bool
	var asked atomic.Int64
	down.Store(true)
	i.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		up.ServeHTTP(w, r)
	})
	var now atomic.Int64
	r := guard(t, auth.ResourceOptions{Issuers: []auth.Issuer{{URL: i.URL}}, Now: func() time.Time { return epoch.Add(time.Duration(now.Load())) }})
	for range 10 {
		_, err := r.Verify(t.Context(), asking("Bearer "+i.token(nil, nil)))
		require.Equal(t, http.StatusServiceUnavailable, refused(t, err).Status)
	}
	require.EqualValues(t, 1, asked.Load())
	down.Store(false)
	now.Store(int64(auth.DefaultKeysPause))
	_, err := r.Verify(t.Context(), asking("Bearer "+i.token(nil, nil)))
	require.NoError(t, err)
}

func TestResourceOptions(t *testing.T) {
	good := auth.ResourceOptions{Resource: resource, Issuers: []auth.Issuer{{URL: "https://issuer.test"}}}
	for name, change := range map[string]func(o *auth.ResourceOptions){
		"no resource":           func(o *auth.ResourceOptions) { o.Resource = "" },
		"a plain resource":      func(o *auth.ResourceOptions) { o.Resource = "http://gateway.test/mcp" },
		"no issuer":             func(o *auth.ResourceOptions) { o.Issuers = nil },
		"a plain issuer":        func(o *auth.ResourceOptions) { o.Issuers = []auth.Issuer{{URL: "http://issuer.test"}} },
		"plain keys":            func(o *auth.ResourceOptions) { o.Issuers = []auth.Issuer{{URL: "https://a", Keys: "http://b/c"}} },
		"a symmetric algorithm": func(o *auth.ResourceOptions) { o.Algorithms = []string{"HS256"} },
		"no algorithm":          func(o *auth.ResourceOptions) { o.Algorithms = []string{"none"} },
	} {
		o := good
		change(&o)
		_, err := auth.NewResource(o)
		require.Error(t, err, name)
	}
	good.Issuers = []auth.Issuer{{URL: "https://u:s3cret@issuer.test"}}
	_, err := auth.NewResource(good)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "s3cret")
}

func TestMetadata(t *testing.T) {
	r := guard(t, auth.ResourceOptions{Name: "Tools", Issuers: []auth.Issuer{{URL: "https://issuer.test"}}, Scopes: []string{"mcp"}, Offered: []string{"admin", "mcp"}})
	mux := http.NewServeMux()
	r.Handle(mux)
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "*", w.Header().Get("Access-Control-Allow-Origin"))
		require.JSONEq(t, `{"resource":"https://gateway.test/mcp","resource_name":"Tools","authorization_servers":["https://issuer.test"],
			"scopes_supported":["mcp","admin"],"bearer_methods_supported":["header"]}`, w.Body.String())
	}
	for method, status := range map[string]int{http.MethodOptions: http.StatusNoContent, http.MethodPost: http.StatusMethodNotAllowed} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(method, "/.well-known/oauth-protected-resource", nil))
		require.Equal(t, status, w.Code)
	}
	require.Equal(t, "/.well-known/oauth-protected-resource", auth.MetadataPath("https://a/"))
}
