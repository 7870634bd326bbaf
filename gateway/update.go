package gateway

import (
	"errors"
	"reflect"
	"time"
)

// plan is where requests go. It is replaced as a whole, so a request sees one plan.
type plan struct {
	targets map[string]*target
	first   *target
	order   []*target
	router  Router
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

// newPlan makes a plan of upstreams; those that old has as they are stay as they are.
func (g *Gateway) newPlan(upstreams []Upstream, router Router, old *plan) (*plan, error) {
	if len(upstreams) == 0 {
		return nil, &OptionError{"Upstreams", "there is none"}
	}
	p := &plan{targets: make(map[string]*target), router: router}
	for _, u := range upstreams {
		switch {
		case u.Name == "":
			return nil, &OptionError{"Upstreams", "one has no name"}
		case u.Opener == nil:
			return nil, &OptionError{"Upstreams", u.Name + " has no Opener"}
		case u.Isolation > Shared:
			return nil, &OptionError{"Upstreams", u.Name + ": unknown isolation"}
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

// Update replaces the upstreams and the router while clients go on. An upstream whose
// options are equal, its Opener being the very same, stays as it is. One that is new or has
// changed takes requests from now on; one that has changed or gone takes no more, and
// ends when its calls are over; who listens to it then has to ask again. What an isolated server kept for its client goes with
// it. The error is New's, and then nothing has changed.
func (g *Gateway) Update(upstreams []Upstream, router Router) error {
	g.updating.Lock()
	defer g.updating.Unlock()
	old := g.plan.Load()
	next, err := g.newPlan(upstreams, router, old)
	if err != nil {
		return err
	}
	changed := len(next.targets) != len(old.targets)
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
