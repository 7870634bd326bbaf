package serve

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// session is a client of the older era over HTTP: a connection whose frames come
// by many requests and go out on many event streams.
type session struct {
	http *HTTP
	peer Peer
	id   string
	// principal is whose session it is: nobody else may use it.
	principal string
	limit     int       // bytes of events that are kept
	most      int       // bytes of one track that wait to be written
	began     time.Time // when it got its name; zero before. http.mu guards it

	mu       sync.Mutex // protects the fields below, and the tracks
	tracks   map[uint64]*track
	byExch   map[mcp.ExchangeID]*track
	order    []*track // whose oldest event is the next to go, oldest first; see T2
	bytes    int
	tracked  uint64 // number of the last track
	visitors int    // HTTP requests that are being served
	used     time.Time
	timer    *time.Timer
	over     bool
	// initialized says that the client has said so.
	initialized bool
}

var _ Outlet = (*session)(nil)

// newSession makes a session that has no name yet.
func (h *HTTP) newSession(caller mcp.Caller) *session {
	s := &session{
		http: h, principal: caller.Principal, limit: h.o.MaxReplayBytes, most: h.front.o.WriteBuffer,
		tracks: make(map[uint64]*track), byExch: make(map[mcp.ExchangeID]*track), id: rand.Text(),
	}
	own := &track{first: 1}
	s.tracks[0], s.byExch[0] = own, own
	return s
}

// Ended implements Outlet.
func (s *session) Ended() { s.end() }

// open makes the track of an exchange and gives it to a response.
func (s *session) open(x mcp.ExchangeID) (*track, *attachment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracked++
	t := &track{number: s.tracked, exchange: x, first: 1}
	s.tracks[t.number], s.byExch[x] = t, t
	return t, t.attach()
}

// drop forgets a track that came to nothing.
func (s *session) drop(t *track) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(t)
}

func (s *session) forgetLocked(t *track) {
	delete(s.tracks, t.number)
	if s.byExch[t.exchange] == t {
		delete(s.byExch, t.exchange)
	}
}

// Write puts a frame on the track of its exchange. Without one, since the frame is
// about a request whose stream is gone, it goes nowhere.
func (s *session) Write(x mcp.ExchangeID, f Outgoing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byExch[x]
	if t == nil || t.closed || s.over {
		return ErrExchangeClosed
	}
	event := trackEvent{frame: f.Frame, final: f.Final, status: f.status(), ack: f.Ack}
	if t.reader != nil && t.unsent > 0 && t.unsent+len(f.Frame) > s.most && !f.Final {
		return ErrSlowSubscriber
	}
	if t.reader == nil && f.Ack != nil {
		f.Ack(nil) // it is kept for who comes back
		event.ack = nil
	}
	t.events = append(t.events, event)
	t.unsent += len(f.Frame)
	s.bytes += event.size()
	s.order = append(s.order, t)
	s.evictLocked()
	t.poke()
	return nil
}

// evictLocked drops the oldest events while there are too many. What a response
// has yet to write stays, being bounded by itself, and keeps no other in.
func (s *session) evictLocked() {
	for s.bytes > s.limit && len(s.order) > 0 {
		t := s.order[0]
		if len(t.events) == 0 { // it went with its track
			s.order = s.order[1:]
			continue
		}
		if t.reader != nil && t.first > t.sent {
			t.held++
			s.order = s.order[1:]
			continue
		}
		e := &t.events[0]
		s.bytes -= e.size()
		if t.first > t.sent {
			t.unsent -= len(e.frame)
			t.sent = t.first
		}
		*e = trackEvent{}
		t.events = t.events[1:]
		t.first++
		s.order = s.order[1:]
		if len(t.events) == 0 && t.closed && t.reader == nil {
			s.forgetLocked(t)
		}
	}
}

// Close ends the track of an exchange, when all of it is written.
func (s *session) Close(x mcp.ExchangeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byExch[x]
	if t == nil || x == 0 {
		return
	}
	t.closed = true
	delete(s.byExch, x)
	if len(t.events) == 0 && t.reader == nil {
		s.forgetLocked(t)
	}
	t.poke()
}

// Waiting implements Outlet.
func (s *session) Waiting() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.bytes)
}

// release ends the response that carries an exchange; the client is to come back
// for the rest.
func (s *session) release(x mcp.ExchangeID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byExch[x]
	if t == nil || t.reader == nil || t.closed {
		return false
	}
	t.released = true
	t.poke()
	return true
}

// next gives the first event of a track that has a number above after, false if
// there is none yet. over says that none follows; gap that some were dropped.
func (s *session) next(t *track, after uint64) (e trackEvent, number uint64, ok, over, gap bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number = after + 1
	switch {
	case number < t.first:
		return e, number, false, false, true
	case number < t.first+uint64(len(t.events)):
		i := number - t.first
		e = t.events[i]
		t.events[i].ack = nil
		return e, number, true, false, false
	default:
		return e, number, false, t.closed || s.over, false
	}
}

// wrote notes that an event was written to somebody.
func (s *session) wrote(t *track, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; t.sent < number; t.sent++ { // more than one if the client says that it has some
		if i := t.sent + 1 - t.first; i < uint64(len(t.events)) {
			t.unsent -= len(t.events[i].frame)
		}
		if t.held > 0 {
			t.held--
			s.order = append(s.order, t)
		}
	}
	s.evictLocked()
}

// resume gives the track of an event id to a response.
func (s *session) resume(id string) (*track, *attachment, uint64, bool) {
	number, event, ok := parseEventID(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tracks[number]
	if !ok || t == nil || event+1 < t.first || event >= t.first+uint64(len(t.events)) && event > t.sent {
		return nil, nil, 0, false
	}
	return t, t.attach(), event, true
}

// listen gives the session's own track to a response, from what nobody saw yet.
func (s *session) listen() (*track, *attachment, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tracks[0]
	return t, t.attach(), max(t.sent, t.first-1)
}

// leave ends a response's hold on a track.
func (s *session) leave(t *track, a *attachment) {
	s.mu.Lock()
	acks := t.detach(a)
	for ; t.reader == nil && t.held > 0; t.held-- {
		s.order = append(s.order, t)
	}
	s.evictLocked()
	if t.reader == nil && t.closed && len(t.events) == 0 {
		s.forgetLocked(t)
	}
	s.mu.Unlock()
	for _, ack := range acks {
		ack(nil)
	}
}

// revision is what initialize agreed on, "" before.
func (c *Connection) revision() mcp.Revision {
	c.mu.Lock()
	defer c.unlock()
	return c.state.Session()
}

// watchIDs lets c refuse a request whose id is in flight.
func (c *Connection) watchIDs() { c.inFlight = make(map[codec.ID]mcp.ExchangeID) }
