package gateway

import (
	"sync"
	"time"

	"github.com/correlator-go/correlator/engine"
)

// claims is what can be proved of a way that several clients share and whose messages
// name no call: which clients the server may be at work for. While it is at work for
// one alone, what it asks and logs is that one's.
//
// A client counts from before its request is sent until some time after its last call
// has ended, since a server may still speak of a call that it has answered, and even
// more of one that was cancelled or has expired. The proof has to hold for the moment
// in which the server wrote, which is earlier than the one in which we read: all who
// have come in since count, too, and so do those who went in between.
type claims struct {
	mu    sync.Mutex     // guards the fields below
	calls map[uint64]int // how many calls each session has in flight here
	// doubts are the two sessions that count longest beyond their calls. If anybody but
	// one given session still counts, one of them does: a session's time only grows.
	doubts [2]doubt
}

type doubt struct {
	session uint64 // 0 is nobody
	until   time.Duration
}

func (c *claims) enter(session uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = make(map[uint64]int)
	}
	c.calls[session]++
}

// leave notes that a call has ended, and until when the server may speak of it.
func (c *claims) leave(session uint64, until time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.calls[session]; n > 1 {
		c.calls[session] = n - 1
	} else {
		delete(c.calls, session)
	}
	least := 0
	for i, d := range c.doubts {
		if d.session == session {
			c.doubts[i].until = max(d.until, until)
			return
		}
		if c.doubts[least].session != 0 && (d.session == 0 || d.until < c.doubts[least].until) {
			least = i
		}
	}
	if c.doubts[least].session == 0 || until > c.doubts[least].until {
		c.doubts[least] = doubt{session, until}
	}
}

// sole is the one session that the server can be at work for; 0 if there is none, or
// another one may be it.
func (c *claims) sole(now time.Duration) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) != 1 {
		return 0
	}
	for session := range c.calls {
		for _, d := range c.doubts {
			if d.session != 0 && d.session != session && d.until > now {
				return 0
			}
		}
		return session
	}
	return 0
}

// forget says that the server has gone, and speaks of nothing any more. Calls in
// flight leave by themselves.
func (c *claims) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubts = [2]doubt{}
}

// claim notes that the server is about to work for c's client.
func (b *backend) claim(c *call) {
	c.claimed = true
	b.claims.enter(c.session.number)
}

// unclaim notes that a claimed call has ended.
func (b *backend) unclaim(c *call, status engine.Status) {
	o := &b.target.o
	until := b.target.g.clock.Now()
	switch status {
	case engine.Resolved, engine.Rejected:
		until += max(0, o.DoubtAnswered)
	case engine.Failed: // the server has gone
	default:
		until += max(0, o.DoubtUnanswered)
	}
	b.claims.leave(c.session.number, until)
}

// soleClient is the one client that what the server says can be for, nil if that
// cannot be proved.
func (b *backend) soleClient(l *life) *Session {
	if b.session != nil || l.streams {
		return b.session // where calls have streams of their own, what came on none is nobody's
	}
	number := b.claims.sole(b.target.g.clock.Now())
	if number == 0 {
		return nil
	}
	g := b.target.g
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sessions[number]
}

// whyNobody says, for the server to read, why what it asks is for no client.
func (b *backend) whyNobody(l *life) string {
	const told = "whom this is for cannot be told: "
	switch {
	case b.target.o.Plain:
		return told + "clients share this server, and JSON-RPC alone does not say whose request it is at work for"
	case l.streams:
		return told + "it came on no request's own stream"
	}
	switch calls, recent := b.claims.count(b.target.g.clock.Now()); {
	case calls > 1:
		return told + "several clients that share this server have requests in flight"
	case calls == 1:
		return told + "one client has requests in flight, and another one had some a moment ago"
	case recent > 0:
		return told + "no request is in flight any more"
	}
	return told + "no client has a request in flight"
}

// count is how many sessions have calls in flight, and how many beyond that the server
// may still speak of.
func (c *claims) count(now time.Duration) (calls, recent int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.doubts {
		if _, here := c.calls[d.session]; d.session != 0 && !here && d.until > now {
			recent++
		}
	}
	return len(c.calls), recent
}
