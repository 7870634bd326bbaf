package auth

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/serve"
)

// Defaults of ResourceOptions.
const (
	// DefaultFetchTimeout bounds one fetch of an issuer's keys.
	DefaultFetchTimeout = 10 * time.Second
	// DefaultKeysPause is the shortest pause between two fetches of an issuer's keys:
	// tokens with unknown keys cause no more of them.
	DefaultKeysPause = 10 * time.Second
)

// Issuer is an authorization server whose tokens are good.
type Issuer struct {
	// URL is the issuer, as it stands in its tokens: https, but for loopback hosts.
	URL string
	// Keys is the address of its JWK set; "" finds it by OpenID Connect discovery when
	// the first token comes.
	Keys string
}

// ResourceOptions of an OAuth 2 resource server, as MCP wants it: tokens are JWTs, for
// this audience, from these issuers.
type ResourceOptions struct {
	// Resource is the address of the endpoint as clients know it: the audience of
	// tokens (RFC 8707), and what the metadata are about (RFC 9728). Required.
	Resource string
	// Name is for people who are asked to consent; "" leaves it out.
	Name string
	// Issuers are the authorization servers, at least one.
	Issuers []Issuer
	// Scopes are those that every token must have. Offered are further ones that the
	// metadata name.
	Scopes, Offered []string
	// Algorithms are those of signatures; nil is every asymmetric one.
	Algorithms []string
	// Client fetches keys; nil is one of our own.
	Client *http.Client
	// FetchTimeout and KeysPause are durations; zero is the default. A negative pause is
	// none.
	FetchTimeout, KeysPause time.Duration
	// Now is the clock by which tokens expire; nil is time.Now.
	Now func() time.Time
}

// Resource is a Verifier of access tokens. It serves the metadata document, too.
type Resource struct {
	o        ResourceOptions
	issuers  map[string]*issuer
	metadata string // address of the document
	document []byte
}

var _ Verifier = (*Resource)(nil)

// algorithms are the asymmetric ones: with a symmetric one, or none, whoever knows the
// public key could sign.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// NewResource makes one. It fetches nothing yet. The error says which option is wrong.
func NewResource(o ResourceOptions) (*Resource, error) {
	u, err := address(o.Resource)
	if err != nil {
		return nil, fmt.Errorf("auth: resource: %w", err)
	}
	if len(o.Issuers) == 0 {
		return nil, errors.New("auth: there is no issuer")
	}
	if o.Algorithms == nil {
		o.Algorithms = algorithms
	}
	for _, a := range o.Algorithms {
		if !slices.Contains(algorithms, a) {
			return nil, fmt.Errorf("auth: algorithm %q is not asymmetric, or unknown", a)
		}
	}
	o.FetchTimeout, o.KeysPause = cmp.Or(o.FetchTimeout, DefaultFetchTimeout), cmp.Or(o.KeysPause, DefaultKeysPause)
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Resource{o: o, issuers: make(map[string]*issuer)}
	for _, i := range o.Issuers {
		if _, err := address(i.URL); err != nil {
			return nil, fmt.Errorf("auth: issuer: %w", err)
		}
		if i.Keys != "" {
			if _, err := address(i.Keys); err != nil {
				return nil, fmt.Errorf("auth: keys: %w", err)
			}
		}
		r.issuers[i.URL] = newIssuer(&r.o, i)
	}
	r.metadata = u.Scheme + "://" + u.Host + MetadataPath(o.Resource)
	r.document, err = r.describe()
	return r, err
}

// address is a URL whose content nobody on the way can change: https, or this machine.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("no address")
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("%q is no plain address", u.Redacted())
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("%q is not https", u.Redacted())
}

// Verify implements Verifier.
func (r *Resource) Verify(ctx context.Context, req *http.Request) (Identity, error) {
	token, err := bearer(req)
	if err != nil {
		return Identity{}, r.refuse(err)
	}
	claims, err := r.check(ctx, token)
	if err != nil {
		return Identity{}, r.refuse(err)
	}
	scopes := claims.scopes()
	for _, s := range r.o.Scopes {
		if !slices.Contains(scopes, s) {
			return Identity{}, &serve.HTTPError{
				Status: http.StatusForbidden, Text: "the token does not go that far",
				Challenge: `Bearer error="insufficient_scope", scope="` + strings.Join(r.o.Scopes, " ") + `", ` + r.pointer(),
			}
		}
	}
	// An issuer has no fragment, so the name tells both apart from all others.
	return Identity{Name: claims.Issuer + "#" + claims.Subject, Scopes: scopes}, nil
}

// pointer tells clients where the metadata are, RFC 9728 section 5.1.
func (r *Resource) pointer() string { return `resource_metadata="` + r.metadata + `"` }

// errNoIssuer: whether a token is good cannot be said now.
var errNoIssuer = &serve.HTTPError{Status: http.StatusServiceUnavailable, Text: "the issuer of tokens does not answer"}

func (r *Resource) refuse(err error) error {
	if errors.Is(err, errNoIssuer) {
		return err
	}
	if len(r.o.Scopes) > 0 && errors.Is(err, errNoToken) {
		return challenge(err, r.pointer(), `scope="`+strings.Join(r.o.Scopes, " ")+`"`)
	}
	return challenge(err, r.pointer())
}

// claims are those of an access token that are looked at, RFC 9068.
type claims struct {
	Issuer  string   `json:"iss"`
	Subject string   `json:"sub"`
	Scope   string   `json:"scope"`
	Granted []string `json:"scp"` // some issuers' spelling
}

func (c *claims) scopes() []string {
	if c.Scope != "" {
		return strings.Fields(c.Scope)
	}
	return c.Granted
}

// check verifies the signature, the issuer, the audience and the time.
func (r *Resource) check(ctx context.Context, token string) (*claims, error) {
	i := r.issuers[issuerOf(token)]
	if i == nil {
		return nil, errors.New("auth: not a token of an issuer that is known")
	}
	v, err := i.verifier(ctx)
	var good *oidc.IDToken
	if err == nil {
		good, err = v.Verify(ctx, token)
	}
	switch {
	case err != nil && i.calm.failed():
		return nil, errNoIssuer
	case err != nil:
		return nil, err
	}
	var c claims
	if err := good.Claims(&c); err != nil {
		return nil, err
	}
	if c.Subject == "" {
		return nil, errors.New("auth: a token of nobody")
	}
	return &c, nil
}

// issuerOf is whose token it says to be: nothing that it says is believed yet.
func issuerOf(token string) string {
	_, rest, _ := strings.Cut(token, ".")
	payload, _, ok := strings.Cut(rest, ".")
	b, err := base64.RawURLEncoding.DecodeString(payload)
	if !ok || err != nil {
		return ""
	}
	var c claims
	if codec.DecodeValue(b, &c) != nil {
		return ""
	}
	return c.Issuer
}

// String implements Verifier.
func (r *Resource) String() string { return "oauth" }
