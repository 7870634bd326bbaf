package serve

import (
	"errors"
	"net/http"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// legacy takes one message, or a batch, of the older era.
func (h *HTTP) legacy(w http.ResponseWriter, r *http.Request, caller mcp.Caller, m *codec.Message, batch bool) {
	if version := mcp.Revision(r.Header.Get(headerVersion)); version != "" && !version.IsLegacy() && string(m.Method()) != initialize {
		h.reject(w, refuse(http.StatusBadRequest, "version", "this version of the protocol is not served").withID(idOf(m)))
		return
	}
	id := r.Header.Get(headerSession)
	switch {
	case id == "" && !batch && m.Kind == codec.KindRequest && string(m.Method()) == initialize:
		h.begin(w, r, caller, m)
		return
	case id == "":
		h.reject(w, refuse(http.StatusBadRequest, "session", "Mcp-Session-Id is missing").withID(idOf(m)))
		return
	}
	s := h.find(id, caller)
	if s == nil {
		h.reject(w, noSession().withID(idOf(m)))
		return
	}
	defer s.exit()
	if n := s.guests(); n > h.front.o.MaxLive {
		// Answers that nobody reads are answers that are kept.
		h.busy(w, idOf(m), n)
		return
	}
	h.take(w, r, caller, s, m, batch)
}

// idOf is the id of a request, nil of anything else.
func idOf(m *codec.Message) []byte {
	if m.Kind != codec.KindRequest {
		return nil
	}
	return m.RawID()
}

func noSession() *rejection {
	return refuse(http.StatusNotFound, "session", "this session has ended or never was")
}

// begin serves initialize: it makes a session, if the reducer agrees to it.
func (h *HTTP) begin(w http.ResponseWriter, r *http.Request, caller mcp.Caller, m *codec.Message) {
	s := h.newSession(caller)
	c, err := h.backend.Open(r.Context(), Opening{Caller: caller, Session: s.id}, s)
	if err != nil {
		h.reject(w, stopped().withID(m.RawID()))
		return
	}
	s.peer = c
	s.enter()
	defer s.exit()
	x := mcp.NewExchangeID()
	t, a := s.open(x)
	if err := c.Receive(&Incoming{
		Exchange: x, Message: m, IDs: []codec.ID{m.ID()}, Caller: caller, Correlation: correlationOf(r),
	}); err != nil {
		c.Close()
		h.reject(w, stopped().withID(m.RawID()))
		return
	}
	answered := h.awaitFirst(r, s, t, a)
	switch {
	case answered && c.Revision() == "":
		defer c.Close() // what is answered is why there is no session
	case !h.keep(s):
		c.Close()
		h.busy(w, m.RawID(), h.front.o.MaxConnections)
		return
	default:
		w.Header().Set(headerSession, s.id)
	}
	h.carryAs(w, r, s, t, a, 0, answered)
	if c.Revision() == "" {
		c.Close() // it was named for the sake of a stream that had to begin
	}
}

// awaitFirst waits until something is on a track, so that what it is decides about the
// headers of the response. It is false when that takes so long that the response has
// to begin without, or its client has gone.
func (h *HTTP) awaitFirst(r *http.Request, s *session, t *track, a *attachment) bool {
	quiet := newPause(h.o.KeepAlive)
	defer quiet.stop()
	for {
		if s.answered(t) {
			return true
		}
		select {
		case <-a.wake:
		case <-quiet.over():
			return false
		case <-r.Context().Done():
			return false
		}
	}
}

// answered reports whether there is an answer on a track, or none will come.
func (s *session) answered(t *track) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.closed || s.over || len(t.events) > 0
}

// take gives a message to its session and carries what comes of it.
func (h *HTTP) take(w http.ResponseWriter, r *http.Request, caller mcp.Caller, s *session, m *codec.Message, batch bool) {
	if string(m.Method()) == mcp.NoteInitialized {
		s.mu.Lock()
		s.initialized = true
		s.mu.Unlock()
	}
	x := mcp.NewExchangeID()
	in := Incoming{Exchange: x, Message: m, Batch: batch, Caller: caller, Correlation: correlationOf(r)}
	switch {
	case batch:
		b := lookIntoBatch(m.Frame(), h.front.o.MaxDepth)
		in.IDs, in.Repeats = b.ids, b.repeats // what else is wrong with it the reducer says
	case m.Kind == codec.KindRequest:
		in.IDs = []codec.ID{m.ID()}
	}
	if m.Flags.Has(codec.FlagNullID) && !batch {
		h.reject(w, refuse(http.StatusBadRequest, "message", "the id must not be null"))
		return
	}
	asked := len(in.IDs) > 0 || batch
	var t *track
	var a *attachment
	if asked {
		t, a = s.open(x)
	}
	err := s.peer.Receive(&in)
	if err != nil && t != nil {
		s.drop(t)
	}
	switch {
	case errors.Is(err, ErrDuplicateID):
		h.front.counts.duplicates.Add(1)
		h.front.stray(Stray{Reason: StrayDuplicate, Frame: m.Frame(), Err: err})
		h.reject(w, refuse(http.StatusBadRequest, "duplicate", "a request with this id is in flight").withID(idOf(m)))
	case errors.Is(err, ErrTooManyLive):
		h.busy(w, idOf(m), s.peer.Live())
	case err != nil:
		h.reject(w, noSession().withID(idOf(m)))
	case !asked, batch && len(in.IDs) == 0 && s.silent(t):
		if t != nil {
			s.leave(t, a)
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		h.carry(w, r, s, t, a, 0)
	}
}

// silent reports whether nothing came of an exchange, and nothing will.
func (s *session) silent(t *track) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.closed && len(t.events) == 0
}

// get opens the session's own stream, or goes on with one that was lost.
func (h *HTTP) get(w http.ResponseWriter, r *http.Request, caller mcp.Caller) {
	if _, e := h.body(w, r); e != nil { // it has none to speak of, but must not stall the stream
		h.reject(w, e)
		return
	}
	if !accepts(r, "text/event-stream") {
		h.reject(w, refuse(http.StatusNotAcceptable, "accept", "Accept must list text/event-stream"))
		return
	}
	s := h.find(r.Header.Get(headerSession), caller)
	if s == nil {
		h.reject(w, noSession())
		return
	}
	last := r.Header.Get(headerLastEvent)
	if last == "" {
		t, a, after := s.listen()
		h.listening(w, r, s, t, a, after)
		return
	}
	t, a, after, ok := s.resume(last)
	if !ok {
		s.exit()
		h.reject(w, refuse(http.StatusBadRequest, "event", "what followed this event is not kept any more"))
		return
	}
	h.listening(w, r, s, t, a, after)
}

// delete ends a session.
func (h *HTTP) delete(w http.ResponseWriter, r *http.Request, caller mcp.Caller) {
	s := h.find(r.Header.Get(headerSession), caller)
	if s == nil {
		h.reject(w, noSession())
		return
	}
	s.exit()
	s.peer.Close()
	w.WriteHeader(http.StatusNoContent)
}
