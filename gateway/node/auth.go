package node

import (
	"context"
	"net/http"
	"reflect"

	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/config"
)

// verifier is who may come in, as a file has it. It is replaced as a whole.
type verifier struct {
	all      auth.Any       // empty lets everybody in
	resource *auth.Resource // nil without OAuth
}

func verifierOf(c *config.Config) (*verifier, error) {
	v := &verifier{}
	a := c.Auth
	if a == nil {
		return v, nil
	}
	if a.Certificates {
		v.all = append(v.all, auth.Certificates{})
	}
	if len(a.Tokens) > 0 {
		var tokens []auth.Token
		for _, t := range a.Tokens {
			tokens = append(tokens, auth.Token{Name: t.Name, Hash: t.Hash, Scopes: t.Scopes})
		}
		known, err := auth.NewTokens(tokens)
		if err != nil {
			return nil, c.Mistake("auth.tokens", err.Error())
		}
		v.all = append(v.all, known)
	}
	if o := a.OAuth; o != nil {
		options := auth.ResourceOptions{Resource: o.Resource, Scopes: o.Scopes}
		for _, one := range o.Issuers {
			options.Issuers = append(options.Issuers, auth.Issuer{URL: one})
		}
		resource, err := auth.NewResource(options)
		if err != nil {
			return nil, c.Mistake("auth.oauth", err.Error())
		}
		v.resource = resource
		v.all = append(v.all, resource) // last: its refusal names the metadata
	}
	return v, nil
}

// visitors are those who come to one address. Who they are is said by the file that was
// read last; where that asks nobody they are identity.
type visitors struct {
	n        *Node
	identity string
}

// Verify implements auth.Verifier.
func (s *visitors) Verify(ctx context.Context, r *http.Request) (auth.Identity, error) {
	v := s.n.auth.Load()
	if len(v.all) == 0 {
		return auth.Identity{Name: s.identity}, nil
	}
	return v.all.Verify(ctx, r)
}

// String names the verifiers.
func (s *visitors) String() string {
	if v := s.n.auth.Load(); len(v.all) > 0 {
		return v.all.String()
	}
	return "nobody asks"
}

// metadata serves the document of OAuth's protected resource, if there is one.
func (n *Node) metadata(w http.ResponseWriter, r *http.Request) {
	v := n.auth.Load()
	if v.resource == nil {
		http.NotFound(w, r)
		return
	}
	mux := http.NewServeMux()
	v.resource.Handle(mux)
	mux.ServeHTTP(w, r)
}

// restartFor names the members that differ and are only read at the start.
func restartFor(before, after *config.Config) []string {
	var out []string
	for _, m := range []struct {
		name   string
		differ bool
	}{
		{"telemetry", !reflect.DeepEqual(before.Telemetry, after.Telemetry)},
		{"cluster", !reflect.DeepEqual(before.Cluster, after.Cluster)},
		{"guard", !reflect.DeepEqual(before.Guard, after.Guard)},
		{"log.format", before.Log.Format != after.Log.Format},
		{"log.level", before.Log.Level != after.Log.Level},
	} {
		if m.differ {
			out = append(out, m.name)
		}
	}
	return out
}
