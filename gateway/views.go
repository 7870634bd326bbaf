package gateway

import (
	"slices"
	"strings"
	"sync"

	"github.com/correlator-go/correlator/gateway/merge"
)

// view is which upstream has which resource, as the clients of one view see it: all
// clients share one where all ways are shared, else each has its own. It is learned
// from the lists of resources and templates, and forgotten when one of them changes.
type view struct {
	mu        sync.Mutex // guards the fields below
	exact     map[string]*target
	templates []template
}

type template struct {
	text   string
	target *target
}

// learn notes what a list says. Of two upstreams with one URI the first in the
// options has it, whatever list came first, and the conflict is told.
func (v *view) learn(l merge.List, t *target, result []byte) {
	for uri, other := range v.note(l, t, merge.URIs(l, result)) {
		if t.before(other) {
			t.g.conflict(uri, t, other)
		} else {
			t.g.conflict(uri, other, t)
		}
	}
}

// note gives the URIs that another upstream has, too, with that one.
func (v *view) note(l merge.List, t *target, uris []string) map[string]*target {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.exact == nil {
		v.exact = make(map[string]*target)
	}
	var twice map[string]*target
	for _, uri := range uris {
		had := v.exact[uri]
		if had == nil || t.before(had) {
			v.exact[uri] = t
		}
		if had != nil && had.o.Name != t.o.Name {
			if twice == nil {
				twice = make(map[string]*target)
			}
			twice[uri] = had
		}
		if l.Member == "resourceTemplates" {
			v.templates = append(v.templates, template{uri, t})
		}
	}
	return twice
}

// byPrefix is the upstream whose resources have URIs that begin like uri, nil if there is
// none: of two the one that says more.
func (p *plan) byPrefix(uri string) (found *target) {
	for _, t := range p.order {
		if prefix := t.o.URIPrefix; prefix != "" && strings.HasPrefix(uri, prefix) && (found == nil || len(prefix) > len(found.o.URIPrefix)) {
			found = t
		}
	}
	return found
}

// find gives the upstream that has a resource, or the template of one.
func (v *view) find(uri string) *target {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t := v.exact[uri]; t != nil {
		return t
	}
	var found *target
	for _, tt := range v.templates {
		if merge.Match(tt.text, uri) && (found == nil || tt.target.before(found)) {
			found = tt.target
		}
	}
	return found
}

// before reports whether t stands before other in the options.
func (t *target) before(other *target) bool {
	order := t.g.plan.Load().order
	return slices.Index(order, t) < slices.Index(order, other)
}

// views are all of them.
type views struct {
	mu  sync.Mutex // guards all
	all map[string]*view
}

func (g *Gateway) view(s *Session) *view {
	key := g.viewKey(s)
	g.views.mu.Lock()
	defer g.views.mu.Unlock()
	v := g.views.all[key]
	if v == nil {
		v = &view{}
		if g.views.all == nil {
			g.views.all = make(map[string]*view)
		}
		g.views.all[key] = v
	}
	return v
}

func (g *Gateway) viewKey(s *Session) string {
	for _, t := range g.plan.Load().order {
		switch {
		case t.o.Isolation == Shared:
		case t.o.Isolation == PerIdentity || s.peer.Alone:
			return "i" + s.peer.Identity
		default:
			return sessionName(s.number)
		}
	}
	return ""
}

// forgetViews is for when the resources of an upstream have changed.
func (g *Gateway) forgetViews() {
	g.views.mu.Lock()
	defer g.views.mu.Unlock()
	g.views.all = nil
}

// forgetView is for when a client has gone.
func (g *Gateway) forgetView(s *Session) {
	g.views.mu.Lock()
	defer g.views.mu.Unlock()
	delete(g.views.all, sessionName(s.number))
}
