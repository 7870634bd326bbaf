package serve

import (
	"time"

	"github.com/correlator-go/correlator/mcp"
)

// keep lets a session in under its name, if there is room: the one that was idle
// for longest makes room.
func (h *HTTP) keep(s *session) bool {
	h.mu.Lock()
	var idlest *session
	if len(h.sessions) >= h.front.o.MaxConnections {
		idlest = h.idlestLocked()
		if idlest == nil {
			h.mu.Unlock()
			return false
		}
		delete(h.sessions, idlest.id)
	}
	h.sessions[s.id], s.began = s, time.Now()
	h.mu.Unlock()
	if idlest != nil {
		idlest.peer.Close()
	}
	return true
}

// idlestLocked is the session that was used least lately, of those that are idle.
func (h *HTTP) idlestLocked() *session {
	var idlest *session
	var since time.Time
	for _, s := range h.sessions {
		if used, idle := s.idle(); idle && (idlest == nil || used.Before(since)) {
			idlest, since = s, used
		}
	}
	return idlest
}

// idle reports whether nobody is being served, and since when. What a client is to
// be asked waits until it says that it is initialized, for ever if it never does:
// that keeps no session.
func (s *session) idle() (used time.Time, idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.visitors == 0 && (s.peer.Live() == 0 || !s.initialized)
}

// find gives the session of a name to its principal, for a visit.
func (h *HTTP) find(id string, caller mcp.Caller) *session {
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s == nil || s.principal != caller.Principal || !s.enter() {
		return nil
	}
	return s
}

// enter begins a visit; the timer of idleness waits.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.visitors++
	return true
}

// guests is how many HTTP requests are being served, but for the one that listens.
func (s *session) guests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.visitors
	if s.tracks[0].reader != nil {
		n--
	}
	return n
}

// exit ends a visit.
func (s *session) exit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visitors--
	s.used = time.Now()
	after := s.http.o.SessionIdle
	if s.visitors > 0 || s.over || after <= 0 {
		return
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(after, s.expire)
		return
	}
	s.timer.Reset(after)
}

// expire ends a session that was idle for long enough.
func (s *session) expire() {
	used, idle := s.idle()
	after := s.http.o.SessionIdle
	if left := after - time.Since(used); !idle || left > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.over {
			s.timer.Reset(max(left, after/2))
		}
		return
	}
	s.peer.Close()
}

// end forgets a session; its connection calls it when it closes.
func (s *session) end() {
	h := s.http
	h.mu.Lock()
	if h.sessions[s.id] == s {
		delete(h.sessions, s.id)
	}
	began := s.began
	h.mu.Unlock()
	if !began.IsZero() {
		h.sessionEnded(s.peer, began)
	}
	s.mu.Lock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
	var acks []func(error)
	for _, t := range s.tracks {
		for i := range t.events {
			if t.events[i].ack != nil {
				acks = append(acks, t.events[i].ack)
				t.events[i].ack = nil
			}
		}
		t.poke()
	}
	s.mu.Unlock()
	for _, ack := range acks {
		ack(ErrStopped)
	}
}

// sessionEnded tells of the end of a session: a connection of ours in the order of its
// other events.
func (h *HTTP) sessionEnded(p Peer, began time.Time) {
	if own, ok := p.(httpPeer); ok {
		own.sessionEnded(began, nil)
		return
	}
	h.front.emit(Event{Kind: SessionEnded, Duration: time.Since(began), Reason: "closed"})
}
