package lsp

import (
	"encoding/json"
	"sync"
	"sync/atomic"
)

// streams finds the call that a token belongs to.
type streams struct {
	last atomic.Uint64 // number of tokens made

	mu    sync.Mutex         // protects the fields below
	calls map[string]*stream // by token
}

func (s *streams) add(token string, of *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[token] = of
}

func (s *streams) remove(tokens []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, token := range tokens {
		delete(s.calls, token)
	}
}

func (s *streams) find(token string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[token]
}

// stream carries what comes for one call before its answer: the reader puts in and
// never waits, the caller takes out. What came before the answer is in the queue before
// the call is settled, since the reader does both.
type stream struct {
	workDone, partial func(json.RawMessage)
	partialToken      string
	limit             int           // of bytes that wait; negative none
	signal            chan struct{} // holds one token when there is something to look at

	mu    sync.Mutex // protects the fields below
	queue []delivery
	bytes int
	over  bool // more than limit waited: nothing more goes in
	shut  bool // the call was settled: nothing more goes in
}

// delivery is one value for the WorkDone or the Partial of a call.
type delivery struct {
	to    func(json.RawMessage)
	value json.RawMessage
}

// put is called by the reader; false says that the value came too late.
func (s *stream) put(token string, value json.RawMessage) bool {
	to := s.workDone
	if token == s.partialToken {
		to = s.partial
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return false
	}
	if s.limit >= 0 && len(s.queue) > 0 && s.bytes+len(value) > s.limit {
		s.over = true
	}
	if !s.over {
		s.queue = append(s.queue, delivery{to, value})
		s.bytes += len(value)
	}
	select {
	case s.signal <- struct{}{}:
	default:
	}
	return true
}

// close lets nothing more in.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
}

// deliver hands out what waits; false says that something did not find room behind it.
func (s *stream) deliver() bool {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.queue = nil
			over := s.over
			s.mu.Unlock()
			return !over
		}
		d := s.queue[0]
		s.queue[0] = delivery{}
		s.queue = s.queue[1:]
		s.bytes -= len(d.value)
		s.mu.Unlock()
		d.to(d.value)
	}
}
