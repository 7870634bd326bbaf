package conn

import (
	"bytes"
	"runtime"
	"weak"

	"github.com/correlator-go/correlator/codec"
)

// forgotten is what is needed to end a detached request that nobody has any more.
// It must not lead to the request.
type forgotten struct {
	conn  *Conn
	id    codec.ID
	rawID []byte
	batch *batchAnswer
	size  int
	ctx   *requestContext
}

// loosen lets the collector have a detached request, if it is still in flight. Its
// end is then the collector's to find, unless it is answered or cancelled before.
func (s *serving) loosen(r *Inbound) {
	if r.IsNotification() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.state.Load() != inboundPending {
		return
	}
	if f, ok := s.inFlight[r.id]; ok && f.request == r {
		s.inFlight[r.id] = flight{loose: weak.Make(r)}
	}
	r.loose = true
	r.letGo = runtime.AddCleanup(r, (*forgotten).end, &forgotten{
		conn: r.conn, id: r.id, rawID: bytes.Clone(r.message.RawID()), batch: r.batch, size: r.size, ctx: r.ctx,
	})
}

// end runs on a goroutine of the runtime's. The request was neither answered nor
// cancelled, which would have stopped it. Once the connection ends it could not be
// answered any more, and letting go of it was right.
func (f *forgotten) end() {
	if f.conn.over() {
		return
	}
	s := &f.conn.serving
	s.mu.Lock()
	if flight, ok := s.inFlight[f.id]; ok && flight.inbound() == nil {
		delete(s.inFlight, f.id)
	}
	delete(s.watched, f.ctx)
	s.freeLocked(f.size)
	s.mu.Unlock()
	f.ctx.end()
	f.conn.unanswered(f.rawID, f.batch, false)
}

// unanswered gives the answer that a handler failed to give. wait lets the last of
// an array wait for room.
func (c *Conn) unanswered(rawID []byte, b *batchAnswer, wait bool) {
	c.counts.unanswered.Add(1)
	e := internalError("no answer")
	if b != nil {
		b.add(appendAnswer(nil, rawID, nil, e), wait)
		return
	}
	c.answerNow(rawID, e)
}
