package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// issuer is an authorization server and what is known of it.
type issuer struct {
	o      *ResourceOptions
	of     Issuer
	client *http.Client
	calm   *calm

	mu    sync.Mutex // guards the fields below
	ready *oidc.IDTokenVerifier
	tried time.Time // when discovery failed last
	err   error
}

func newIssuer(o *ResourceOptions, of Issuer) *issuer {
	i := &issuer{o: o, of: of, client: &http.Client{}}
	if o.Client != nil {
		*i.client = *o.Client
	}
	if i.client.Timeout == 0 {
		i.client.Timeout = max(o.FetchTimeout, 0)
	}
	next := i.client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	i.calm = &calm{next: next, pause: o.KeysPause, now: o.Now, seen: make(map[string]*fetched)}
	i.client.Transport = i.calm
	return i
}

// verifier gives what checks the issuer's tokens; the first one discovers where its keys
// are. A failure is kept for a while: tokens must not cause any number of requests.
func (i *issuer) verifier(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.ready != nil:
		return i.ready, nil
	case i.err != nil && i.o.Now().Sub(i.tried) < i.o.KeysPause:
		return nil, i.err
	}
	// The client that happens to be the first must not decide how it ends.
	ctx, stop := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), i.client), i.o.FetchTimeout)
	defer stop()
	check := &oidc.Config{ClientID: i.o.Resource, SupportedSigningAlgs: i.o.Algorithms, Now: i.o.Now}
	if i.of.Keys != "" {
		i.ready = oidc.NewVerifier(i.of.URL, oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), i.client), i.of.Keys), check)
		return i.ready, nil
	}
	p, err := oidc.NewProvider(ctx, i.of.URL)
	if err != nil {
		i.tried, i.err = i.o.Now(), fmt.Errorf("auth: issuer %s: %w", i.of.URL, err)
		return nil, i.err
	}
	i.ready = p.Verifier(check)
	return i.ready, nil
}

// maxDocument is how much of an issuer's document is read, in bytes.
const maxDocument = 1 << 20

// calm fetches each address at most once within a pause, and gives what it got then
// again: a key that is unknown is looked for by a fetch, and anybody can make up keys.
type calm struct {
	next  http.RoundTripper
	pause time.Duration
	now   func() time.Time

	mu   sync.Mutex // guards seen
	seen map[string]*fetched
}

type fetched struct {
	at     time.Time
	status int
	header http.Header
	body   []byte
	err    error
}

// failed reports whether the last fetch of some address got nothing.
func (c *calm) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.seen {
		if f.err != nil || f.status != http.StatusOK {
			return true
		}
	}
	return false
}

// RoundTrip implements http.RoundTripper.
func (c *calm) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.seen[r.URL.String()]
	if f == nil || c.now().Sub(f.at) >= c.pause {
		f = c.fetch(r)
		c.seen[r.URL.String()] = f // the issuer's own addresses: a few
	}
	if f.err != nil {
		return nil, f.err
	}
	return &http.Response{
		StatusCode: f.status, Status: http.StatusText(f.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: f.header.Clone(), Body: io.NopCloser(bytes.NewReader(f.body)), ContentLength: int64(len(f.body)), Request: r,
	}, nil
}

func (c *calm) fetch(r *http.Request) *fetched {
	f := &fetched{at: c.now()}
	response, err := c.next.RoundTrip(r)
	if err != nil {
		f.err = err
		return f
	}
	defer func() { _ = response.Body.Close() }()
	f.status, f.header = response.StatusCode, response.Header
	f.body, f.err = io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if len(f.body) > maxDocument {
		f.err = errors.New("auth: the issuer's document is too long")
	}
	return f
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
