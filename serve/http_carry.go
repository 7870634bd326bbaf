package serve

import (
	"context"
	"net/http"

	"github.com/correlator-go/correlator/mcp"
)

// carrier writes a track to one HTTP response.
type carrier struct {
	http    *HTTP
	session *session
	track   *track
	hold    *attachment
	after   uint64 // number of the event that the client has
	plain   bool   // the response may still be one JSON object
	events  *sseWriter
	primed  bool
}

// carry writes the events of a track that follow one, as they come, until the
// track ends, the client goes, another response takes the track over, or the
// handler lets the client come again. In the older era a client that goes has
// cancelled nothing.
func (h *HTTP) carry(w http.ResponseWriter, r *http.Request, s *session, t *track, a *attachment, after uint64) {
	h.carryAs(w, r, s, t, a, after, r.Method == http.MethodPost)
}

// carryAs is carry; plain says that the response may become one JSON object, else it
// begins at once.
func (h *HTTP) carryAs(w http.ResponseWriter, r *http.Request, s *session, t *track, a *attachment, after uint64, plain bool) {
	defer s.leave(t, a)
	c := &carrier{
		http: h, session: s, track: t, hold: a, after: after,
		plain: plain, events: newSSEWriter(w, h.front.o.WriteTimeout),
	}
	c.run(r.Context().Done())
}

// run carries until there is no more to carry, or gone is closed; whole says that the
// response came to an end as it should.
func (c *carrier) run(gone <-chan struct{}) (whole bool) {
	if !c.plain && c.prime() != nil {
		return false
	}
	quiet := newPause(c.http.o.KeepAlive)
	defer quiet.stop()
	for {
		more, err := c.drain()
		if err != nil || !more {
			return err == nil
		}
		quiet.again()
		select {
		case <-c.hold.wake:
		case <-c.hold.lost:
			return true
		case <-quiet.over():
			if c.prime() != nil || c.events.comment() != nil {
				return false
			}
		case <-gone:
			return false
		}
	}
}

// drain writes what there is. more says that the response goes on.
func (c *carrier) drain() (more bool, err error) {
	for {
		e, number, ok, over, gap := c.session.next(c.track, c.after)
		switch {
		case gap:
			return false, nil
		case !ok && over:
			if !c.done() {
				err = c.prime() // it ends without an answer
			}
			return false, err
		case !ok && c.releasing():
			return false, c.prime()
		case !ok:
			return true, nil
		}
		err := c.send(&e, number)
		if e.ack != nil {
			e.ack(err)
		}
		if err != nil {
			return false, err
		}
		c.after = number
		c.session.wrote(c.track, number)
	}
}

// done reports whether the response has anything in it.
func (c *carrier) done() bool { return c.events.began }

// releasing reports whether the handler asked for the response's end.
func (c *carrier) releasing() bool {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	released := c.track.released
	c.track.released = false
	return released
}

func (c *carrier) send(e *trackEvent, number uint64) error {
	if e.final && c.plain && !c.events.began {
		c.events.began = true // what follows is no event
		return writeJSON(c.events.to, e.status, e.frame)
	}
	if err := c.prime(); err != nil {
		return err
	}
	return c.events.event(c.track.eventID(number), e.frame)
}

// prime begins the event stream. From 2025-11-25 on that is an event without data;
// clients before it would take that for a message.
func (c *carrier) prime() error {
	if c.primed {
		return nil
	}
	c.primed = true
	if c.session.peer.Revision() < mcp.Revision20251125 {
		return c.events.begin()
	}
	return c.events.prime(c.track.eventID(c.after), c.http.o.Retry)
}

// runKey finds the run in its handler's context.
type runKey struct{}

// Value gives the run to this package, and to others what the connection's context
// has.
func (x *handlerContext) Value(key any) any {
	if key == (runKey{}) {
		return x.run
	}
	return x.Context.Value(key)
}

// CloseStream ends the HTTP response that carries a handler's call, in the older
// era: the client comes back for the rest, with what it saw last. A call that takes
// long need not hold a connection open. It reports false, and does nothing, on
// every other front end and when no response carries the call.
func CloseStream(ctx context.Context) bool {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return false
	}
	s := r.conn.session()
	return s != nil && s.release(r.inv.Exchange())
}
