package gateway

import (
	"errors"
	"reflect"
	"time"

	"github.com/correlator-go/correlator/gateway/merge"
)

// plan is where requests go. It is replaced as a whole, so a request sees one plan.
type plan struct {
	targets map[string]*target
	first   *target
	order   []*target
	router  Router
	// merge, patience and overflow are those of Options.
	merge    bool
	patience time.Duration
	overflow Overflow
}

// everyTarget gives those of the plan, and those that Update took out of it.
func (g *Gateway) everyTarget() []*target {
	var out []*target
	for _, t := range g.plan.Load().targets {
		out = append(out, t)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for t := range g.retired {
		out = append(out, t)
	}
	return out
}

// newPlan makes a plan of o; upstreams that old has as they are stay as they are.
func (g *Gateway) newPlan(o *Options, old *plan) (*plan, error) {
	if len(o.Upstreams) == 0 {
		return nil, &OptionError{"Upstreams", "there is none"}
	}
	p := &plan{targets: make(map[string]*target), router: o.Router, merge: o.Merge, patience: o.patience(), overflow: o.Overflow}
	for _, u := range o.Upstreams {
		switch {
		case u.Name == "":
			return nil, &OptionError{"Upstreams", "one has no name"}
		case u.Opener == nil:
			return nil, &OptionError{"Upstreams", u.Name + " has no Opener"}
		case u.Isolation > Shared:
			return nil, &OptionError{"Upstreams", u.Name + ": unknown isolation"}
		case u.URIPrefix != "" && !merge.IsURIPrefix(u.URIPrefix):
			return nil, &OptionError{"Upstreams", u.Name + ": URIPrefix must be a letter, then letters, digits, +, - and points"}
		case p.targets[u.Name] != nil:
			return nil, &OptionError{"Upstreams", "two are called " + u.Name}
		}
		t, err := newTarget(g, u)
		if err != nil {
			return nil, err
		}
		if old != nil {
			if before := old.targets[u.Name]; before != nil && sameUpstream(before.o, t.o) {
				t = before
			}
		}
		p.targets[u.Name] = t
		p.order = append(p.order, t)
		if p.first == nil {
			p.first = t
		}
	}
	return p, nil
}

// sameUpstream compares Openers by identity, the rest by value.
func sameUpstream(a, b Upstream) bool {
	x, y := a.Opener, b.Opener
	if !reflect.TypeOf(x).Comparable() || !reflect.TypeOf(y).Comparable() || x != y {
		return false
	}
	a.Opener, b.Opener = nil, nil
	return reflect.DeepEqual(a, b)
}

// retirePause is for how long a request may still be on its way to an upstream that is
// no longer in the plan.
const retirePause = time.Second

// Update is Configure for the upstreams and the router alone.
func (g *Gateway) Update(upstreams []Upstream, router Router) error {
	g.updating.Lock()
	defer g.updating.Unlock()
	o := g.current
	o.Upstreams, o.Router = upstreams, router
	return g.configure(o)
}

// Configure replaces what the gateway was made with while clients go on, and no call is
// dropped: Upstreams, Router, Limit, Rate, Burst, Merge, MergePatience and Overflow of o;
// all other options stay as they are.
//
// An upstream whose options are equal, its Opener being the very same, stays as it is.
// One that is new or has changed takes requests from now on; one that has changed or
// gone takes no more, and ends when its calls are over; who listens to it then has to ask
// again. What an isolated server kept for its client goes with it. Limits count at once:
// calls that are beyond a lower one go on, and those that wait go in as far as a higher
// one has room. Where upstreams or Merge have changed clients hear that the lists have.
// The error is New's, and then nothing has changed.
func (g *Gateway) Configure(o Options) error {
	g.updating.Lock()
	defer g.updating.Unlock()
	return g.configure(o)
}

// configure is Configure. g.updating is held.
func (g *Gateway) configure(o Options) error {
	old := g.plan.Load()
	next, err := g.newPlan(&o, old)
	if err != nil {
		return err
	}
	changed := len(next.targets) != len(old.targets) || next.merge != old.merge
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return ErrClosed
	}
	g.plan.Store(next)
	for name, t := range old.targets {
		if next.targets[name] != t {
			changed = true
			g.retired[t] = struct{}{}
			g.retiring.Go(func() { g.retire(t) })
		}
	}
	g.mu.Unlock()
	g.current = o
	g.gate.Set(o.Limit, g.clock.Now)
	g.rates.Set(o.Rate, o.Burst, g.clock.Now())
	if next.merge != old.merge {
		g.endListens(nil) // what was listened to is not what it was
	}
	if changed && !next.first.o.Plain {
		g.relisted()
	}
	return nil
}

var errRetired = errors.New("gateway: the upstream is no longer configured")

// retire ends t when its calls are over, or the gateway is closed.
func (g *Gateway) retire(t *target) {
	g.endListens(t)
	tick := time.NewTicker(retirePause)
	defer tick.Stop()
	for quiet := false; !quiet; {
		select {
		case <-tick.C:
			quiet = g.load()[t].working == 0
		case <-g.ending:
			quiet = true
		}
	}
	t.close(errRetired)
	t.wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.retired, t)
}
