package engine

import (
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
)

// Inspection reads what belongs to a call's owner (its method, its start, its
// key) without claiming the call. It raises inspecting and then looks at the
// word; whoever takes a slot looks at inspecting and then writes. So either the
// inspector sees that the call has gone, or the one who begins the next call of
// the slot sees the inspector and waits at the gate until it is through. One
// inspector at a time; calls that begin wait for one of them at most.
type gate struct{ mu sync.Mutex }

// pass waits until the inspector that was seen is through.
func (g *gate) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
}

// inspect calls look while no call may follow r in its slot, if its word is good.
func (e *Engine[T]) inspect(s *slot[T], r ref, good func(word) bool, look func()) bool {
	e.gate.mu.Lock()
	defer e.gate.mu.Unlock()
	e.inspecting.Store(true)
	defer e.inspecting.Store(false)
	if w := s.load(); w.gen() != r.gen() || !good(w) {
		return false
	}
	look()
	return true
}

// keyIfKept is a caller's id of the call r, absent once the outcome was consumed.
func (e *Engine[T]) keyIfKept(r ref) (id codec.ID) {
	kept := func(w word) bool { return w.state() >= callback }
	e.inspect(e.table.slot(r.index()), r, kept, func() { id = e.table.key(r.index()) })
	return id
}

// Method returns the method of a pending call.
func (e *Engine[T]) Method(id codec.ID) (method string, ok bool) {
	s, r, found := e.find(id)
	if !found {
		return "", false
	}
	ok = e.inspect(s, r, word.live, func() {
		if d := e.table.dir.Load().details.at(r.index()); d != nil {
			method = d.method
		}
	})
	return method, ok
}

// Age returns how long ago a pending call was registered.
func (e *Engine[T]) Age(id codec.ID) (age time.Duration, ok bool) {
	s, r, found := e.find(id)
	if !found {
		return 0, false
	}
	now := e.now()
	var start int64
	ok = e.inspect(s, r, word.live, func() { start = s.start })
	if !ok {
		return 0, false
	}
	return time.Duration(max(now-start, 0)), true
}

// Known reports whether a call has had id, be it pending or over. An answer that Resolve
// has just refused is late, or a second one, where it is true, and nobody's where it is
// not. Ids of callers are remembered for about the last thousand calls.
func (e *Engine[T]) Known(id codec.ID) bool {
	if e.index == nil {
		s, r := e.findMinted(id)
		return e.miss(s, r) != countUnknown
	}
	hash := e.index.hash(id)
	r, found := e.index.load(id, hash)
	return e.missKeyed(hash, r, found) != countUnknown
}

// Closed reports whether the table was closed.
func (e *Engine[T]) Closed() bool { return e.failure.Load() != nil }

// Failure is the error with which the table was closed first, nil while it is open.
func (e *Engine[T]) Failure() error {
	if f := e.failure.Load(); f != nil {
		return f.err
	}
	return nil
}
