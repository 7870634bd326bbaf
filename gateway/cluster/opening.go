package cluster

import (
	"context"
	"sync"

	"github.com/correlator-go/correlator/gateway/link"
)

// opening tells the owner of a way that it has gone: by the error of Open until that
// has returned, by Gone from then on, and never by both.
type opening struct {
	owner   link.Owner
	decided chan struct{} // closed when the way is open, or is not going to be

	mu     sync.Mutex // guards the fields below
	known  bool       // decided is closed
	failed error      // why the way is over
	given  bool       // Open has returned the way
}

func newOpening(owner link.Owner) *opening {
	return &opening{owner: owner, decided: make(chan struct{})}
}

// opened says that the server is open.
func (o *opening) opened() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.decide()
}

// decide lets wait go on; o.mu is held.
func (o *opening) decide() {
	if !o.known {
		o.known = true
		close(o.decided)
	}
}

// gone says, once, why the way is over.
func (o *opening) gone(why error) {
	o.mu.Lock()
	given := o.given
	if !given {
		o.failed = why
		o.decide()
	}
	o.mu.Unlock()
	if given {
		o.owner.Gone(why)
	}
}

// wait gives up to who opened it, when the server is open. If ctx ends first, the way
// is ended.
func (o *opening) wait(ctx context.Context, up link.Upstream) (link.Upstream, error) {
	select {
	case <-o.decided:
	case <-ctx.Done():
		up.End(context.Cause(ctx))
		return nil, context.Cause(ctx)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed != nil {
		return nil, o.failed
	}
	o.given = true
	return up, nil
}

// gate lets callers in until it is closed, and knows when the last one has left. Who is
// inside may come in again.
type gate struct {
	mu     sync.Mutex // guards the fields below
	inside int
	empty  chan struct{} // set by close, closed when nobody is inside
	why    error         // set by close
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.empty != nil {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.empty != nil {
		close(g.empty)
	}
}

func (g *gate) reason() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.why
}

// close gives a channel that is closed when nobody is inside; nil if it was closed
// before.
func (g *gate) close(why error) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.empty != nil {
		return nil
	}
	g.empty, g.why = make(chan struct{}), why
	if g.inside == 0 {
		close(g.empty)
	}
	return g.empty
}
