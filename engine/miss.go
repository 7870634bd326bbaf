package engine

import (
	"runtime"

	"github.com/correlator-go/correlator/codec"
)

// miss says what an answer was that settled nothing: s and r are what its id
// names, s nil when it names nothing. An answer that comes while its call is being
// ended waits to learn how: between a claim and the mark of the winner there is no
// user code, except that Detach runs before the end of a call that was answered.
func (e *Engine[T]) miss(s *slot[T], r ref) counter {
	if s == nil {
		return countUnknown
	}
	w := s.load()
	for w.gen() == r.gen() && w.ending() && s.unanswered.Load() != r.gen() {
		runtime.Gosched()
		w = s.load()
	}
	switch {
	case r.gen() == 0, r.gen() > w.gen(), r.gen() == w.gen() && w.state() == reserved:
		return countUnknown // never given, or given and never registered
	case r.gen() > s.unanswered.Load():
		return countDuplicate
	}
	return countLate
}

// missKeyed is miss for callers' ids; found says whether the id names r.
func (e *Engine[T]) missKeyed(hash uint64, r ref, found bool) counter {
	if !found {
		return e.index.retired.recall(hash)
	}
	return e.miss(e.table.slot(r.index()), r)
}

// sameText finds an id that has the same text as id, another JSON type, and names
// a live call.
func (e *Engine[T]) sameText(id codec.ID) (codec.ID, bool) {
	var other codec.ID
	switch id.Kind() {
	case codec.IDString:
		// The text of a number, and not of a string or of null in its quotes.
		n, err := codec.ParseID([]byte(id.Text()), codec.JSONRPC)
		if k := n.Kind(); err != nil || k != codec.IDInt && k != codec.IDNumber || n.Text() != id.Text() {
			return codec.ID{}, false
		}
		other = n
	case codec.IDInt, codec.IDNumber:
		other = codec.StringID(id.Text())
	default:
		return codec.ID{}, false
	}
	if s, r, ok := e.find(other); ok {
		if w := s.load(); w.gen() == r.gen() && w.live() {
			return other, true
		}
	}
	return codec.ID{}, false
}
