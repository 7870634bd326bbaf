package gateway

import (
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/route"
)

// part is what makes a call of one that is a part of a client's: it goes to a server
// like any other, waits, expires and is cancelled like any other, but is in no table,
// and what becomes of it is told to who made it.
type part struct {
	// ended is asked once, on the goroutine that ends the call. What it gets is borrowed
	// until it returns.
	ended func(result []byte, failed *codec.Error)
}

// reply is what a server said to a part.
type reply struct {
	upstream string
	result   []byte
	failed   *codec.Error
}

// question is what a server is asked for a client.
type question struct {
	target *target
	method string
	params []byte // nil for none
}

// askAll asks several servers for the client of c, which is taken, and gives all that
// they said to done, in the order of the questions, when the last one has. When c is
// cancelled before, so are its parts, and done is not asked.
//
// When one has given a result, the others have patience left to do so; who is late then
// counts as failed, and is cancelled.
func (c *call) askAll(questions []question, patience time.Duration, done func([]reply)) {
	type gathering struct {
		sync.Mutex
		replies []reply
		missing int
		over    bool
		timer   engine.Timer
	}
	g := &gathering{replies: make([]reply, len(questions)), missing: len(questions)}
	if len(questions) == 0 {
		done(nil)
		return
	}
	calls := make([]*call, len(questions))
	frames := make([]codec.Message, len(questions))
	hurry := func() {
		g.Lock()
		if g.over {
			g.Unlock()
			return
		}
		g.over = true
		for i, r := range g.replies {
			if r.upstream == "" {
				name := questions[i].target.o.Name
				g.replies[i] = reply{upstream: name, failed: (&Failure{Code: CodeTimeout, Text: "upstream \"" + name + "\" did not answer when the others had", Upstream: name}).answer()}
			}
		}
		g.Unlock()
		c.cancelParts()
		if !c.over.Load() {
			done(g.replies)
		}
	}
	for i, q := range questions {
		calls[i], frames[i] = c.partOf(q, func(result []byte, failed *codec.Error) {
			r := reply{upstream: q.target.o.Name, failed: failed}
			if failed == nil {
				r.result = append([]byte{}, result...)
			}
			g.Lock()
			if g.over {
				g.Unlock()
				return
			}
			g.replies[i] = r
			g.missing--
			g.over = g.missing == 0
			last := g.over
			if failed == nil && !last && patience > 0 && g.timer == nil {
				g.timer = c.session.g.clock.AfterFunc(patience, hurry)
			}
			timer := g.timer
			g.Unlock()
			if !last {
				return
			}
			if timer != nil {
				timer.Stop()
			}
			c.setParts(nil)
			if !c.over.Load() {
				done(g.replies)
			}
		})
	}
	c.setParts(calls)
	for i, q := range questions {
		if c.giveUp.Load() != nil {
			calls[i].giveUp.CompareAndSwap(nil, &reasonToStop{errClientCancelled})
		}
		q.target.backend(c.session).admit(nil, calls[i], &frames[i], nil)
	}
}

// partOf makes a call that is a part of c.
func (c *call) partOf(q question, ended func(result []byte, failed *codec.Error)) (*call, codec.Message) {
	frame := codec.AppendRequest(nil, codec.IntID(0), q.method, q.params)
	m, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil {
		panic("gateway: a request of its own: " + err.Error()) // params are valid JSON without a member twice
	}
	s := c.session
	p := &call{session: s, method: q.method, begun: s.g.clock.Now(), modern: c.modern}
	p.more().part.Store(&part{ended: ended})
	p.id = route.EchoOf(&m)
	return p, m
}

// setParts has the parts of c end with it.
func (c *call) setParts(parts []*call) {
	c.session.mu.Lock()
	c.more().parts = parts
	c.session.mu.Unlock()
}

// cancelParts ends what a call that was cancelled has asked.
func (c *call) cancelParts() {
	c.session.mu.Lock()
	parts := c.more().parts
	c.more().parts = nil
	c.session.mu.Unlock()
	for _, p := range parts {
		p.cancel(errClientCancelled, nil, nil)
	}
}
