package conn

import (
	"sync"
	"weak"

	"github.com/correlator-go/correlator/codec"
)

// serving is what the peer has asked and not got yet: which ids are in flight,
// how many requests hold a place, whose contexts somebody waits on.
type serving struct {
	limit int
	bytes int64 // that the frames of requests may have together

	mu       sync.Mutex // protects the fields below
	inFlight map[codec.ID]flight
	held     int   // requests that hold a place: queued, handled or detached
	size     int64 // of their frames
	watched  map[*requestContext]struct{}
	ended    bool          // the connection did: every context ends at once
	idle     chan struct{} // closed when held comes to 0, if anybody asked
}

// flight leads to a request in flight. One that was detached is not kept alive by
// it: when nobody else has it any more nobody can answer it, see loosen.
type flight struct {
	request *Inbound // nil when detached
	loose   weak.Pointer[Inbound]
}

func (f flight) inbound() *Inbound {
	if f.request != nil {
		return f.request
	}
	return f.loose.Value()
}

// admission is the verdict on an inbound request.
type admission uint8

const (
	admitted admission = iota
	admissionDuplicate
	admissionFull
)

// admit gives r a place. A request with a null id has no name to be cancelled
// or repeated by.
func (s *serving) admit(r *Inbound) admission {
	s.mu.Lock()
	defer s.mu.Unlock()
	named := r.id.Kind() != codec.IDNull
	if _, ok := s.inFlight[r.id]; ok && named {
		return admissionDuplicate
	}
	if s.held >= s.limit || s.held > 0 && s.size+int64(r.size) > s.bytes {
		return admissionFull
	}
	s.held++
	s.size += int64(r.size)
	if named {
		s.inFlight[r.id] = flight{request: r}
	}
	return admitted
}

// has reports whether a request with this id is in flight.
func (s *serving) has(id codec.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.inFlight[id]
	return ok
}

// find gives the request with this id, nil when there is none.
func (s *serving) find(id codec.ID) *Inbound {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inFlight[id].inbound()
}

// forget frees the id, before its answer can reach the peer: the peer may use
// it again as soon as it has that.
func (s *serving) forget(r *Inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(r)
}

func (s *serving) forgetLocked(r *Inbound) {
	if s.inFlight[r.id].inbound() == r {
		delete(s.inFlight, r.id)
	}
	if r.loose {
		r.loose = false
		r.letGo.Stop()
	}
}

// done frees r's place, or for a notification its context alone.
func (s *serving) done(r *Inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched, r.ctx)
	if r.IsNotification() {
		return
	}
	s.freeLocked(r.size)
}

// freeLocked frees the place of a request whose frame has size bytes.
func (s *serving) freeLocked(size int) {
	s.held--
	s.size -= int64(size)
	if s.held == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// watch sees to it that x ends with the connection.
func (s *serving) watch(x *requestContext) {
	s.mu.Lock()
	ended := s.ended
	if !ended && x.used() {
		s.watched[x] = struct{}{}
	}
	s.mu.Unlock()
	if ended {
		x.end()
	}
}

// whenIdle gives a channel that is closed when no request holds a place.
func (s *serving) whenIdle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	idle := s.idle
	if s.held == 0 {
		close(s.idle)
		s.idle = nil
	}
	return idle
}

// count is how many requests hold a place.
func (s *serving) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// endAll ends every context, now and in future.
func (s *serving) endAll() {
	s.mu.Lock()
	s.ended = true
	watched := s.watched
	s.watched = nil
	s.mu.Unlock()
	for x := range watched {
		x.end()
	}
}
