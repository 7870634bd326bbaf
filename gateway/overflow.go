package gateway

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// Overflow says what becomes of a client that does not read as fast as it is written
// to. What waits for it is bounded in bytes by its transport. An answer is never
// dropped: a client with no room for one is let go of.
type Overflow uint8

const (
	// Coalesce keeps, while half of the bound or more is used, only the last progress
	// of each call, for when there is room; the answer ends it. Of other notifications
	// what finds no room is dropped and counted.
	Coalesce Overflow = iota
	// CloseSlow lets go of a client whose bound is used up, whatever it would lose.
	CloseSlow
)

// behind is the progress that waits for room at a client: the last one of each call.
type behind struct {
	n atomic.Int64 // how many

	// mu guards the fields below. It is held while one is sent, so that the call's end,
	// which takes it back first, cannot come in between.
	mu    sync.Mutex
	last  map[codec.ID][]byte
	order []codec.ID
	timed bool // a timer looks again
}

// behindRetry is the pause between two looks at whether there is room.
const behindRetry = 5 * time.Millisecond

// keeps keeps progress that has no room now, or would overtake what is kept; false says
// that it may be sent.
func (s *Session) keeps(f *link.Frame) bool {
	queued, bound := s.client.Queued()
	k := s.behind.Load()
	if queued <= bound/2 && (k == nil || k.n.Load() == 0) {
		return false
	}
	s.keepLast(f)
	return true
}

// keepLast keeps f in the place of what is kept of the same call.
func (s *Session) keepLast(f *link.Frame) {
	k := s.behind.Load()
	if k == nil {
		s.behind.CompareAndSwap(nil, &behind{last: make(map[codec.ID][]byte)})
		k = s.behind.Load()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old, again := k.last[f.About]
	if again {
		s.g.counts.coalesced.Add(1)
	} else {
		k.order = append(k.order, f.About)
		k.n.Add(1)
	}
	k.last[f.About] = f.AppendTo(old[:0])
	if !k.timed {
		k.timed = true
		s.g.clock.AfterFunc(behindRetry, s.catchUp)
	}
}

// catchUp sends what is kept, as far as there is room.
func (s *Session) catchUp() {
	k := s.behind.Load()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timed = false
	var left []codec.ID
	for i, id := range k.order {
		text, ok := k.last[id]
		if !ok {
			continue
		}
		if queued, bound := s.client.Queued(); queued > bound/2 {
			left = append(left, k.order[i:]...)
			break
		}
		if s.client.Send(&link.Frame{Bytes: text, About: id, Class: link.Progress}, nil) != nil {
			left = append(left, id)
			continue
		}
		delete(k.last, id)
		k.n.Add(-1)
	}
	if k.order = left; len(k.last) > 0 && !s.isGone() {
		k.timed = true
		s.g.clock.AfterFunc(behindRetry, s.catchUp)
	}
}

// forgo takes back what is kept of a call that ends.
func (s *Session) forgo(id codec.ID) {
	k := s.behind.Load()
	if k == nil || k.n.Load() == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.last[id]; ok {
		delete(k.last, id)
		k.n.Add(-1)
		s.g.counts.coalesced.Add(1)
	}
}
