package auth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/correlator-go/correlator/codec"
)

// wellKnown is where RFC 9728 puts metadata.
const wellKnown = "/.well-known/oauth-protected-resource"

// MetadataPath is where the metadata of a resource are served: below the root of its
// host, with the resource's own path behind. A resource of the root has just the prefix.
func MetadataPath(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return wellKnown
	}
	return wellKnown + strings.TrimSuffix(u.Path, "/")
}

// describe makes the document.
func (r *Resource) describe() ([]byte, error) {
	d := struct {
		Resource string   `json:"resource"`
		Name     string   `json:"resource_name,omitempty"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}{Resource: r.o.Resource, Name: r.o.Name, Methods: []string{"header"}}
	for _, i := range r.o.Issuers {
		d.Servers = append(d.Servers, i.URL)
	}
	for _, s := range slices.Concat(r.o.Scopes, r.o.Offered) {
		if !slices.Contains(d.Scopes, s) {
			d.Scopes = append(d.Scopes, s)
		}
	}
	return codec.AppendValue(nil, d)
}

// Metadata serves the document, to everybody: it is how clients find out where to get a
// token. It belongs at MetadataPath, and at wellKnown for clients that look there only.
func (r *Resource) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*") // nothing in it is secret
		switch req.Method {
		case http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", "GET")
			h.Set("Access-Control-Allow-Headers", "*")
			w.WriteHeader(http.StatusNoContent)
		case http.MethodGet, http.MethodHead:
			h.Set("Content-Type", "application/json")
			h.Set("Cache-Control", "max-age=300")
			_, _ = w.Write(r.document) // a client that has gone misses nothing
		default:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			http.Error(w, "only GET is served here", http.StatusMethodNotAllowed)
		}
	})
}

// Handle puts Metadata where clients look for it.
func (r *Resource) Handle(mux *http.ServeMux) {
	paths := []string{MetadataPath(r.o.Resource)}
	if paths[0] != wellKnown {
		paths = append(paths, wellKnown)
	}
	for _, p := range paths {
		mux.Handle(p, r.Metadata())
	}
}
