package serve

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// Connection interprets the effects of one state: frames go in, handlers run,
// frames come out. All methods are safe for concurrent use.
//
// One lock orders everything: whoever has an input takes it, steps the reducer,
// and carries the effects out, none of which waits. Handlers, hooks and calls of
// the engine run outside it.
//
// C1: effects are carried out in the order in which they were given.
// C2: user code runs under no lock of ours.
// C3: the lock is let go of by unlock alone, or what a handler brought meanwhile
// may be left lying.
type Connection struct {
	server *Server
	o      *Options
	out    outlet
	crew   crew
	base   context.Context
	caller mcp.Caller
	asks   asks
	fire   func() // c.expire, made once

	mu        sync.Mutex // protects the fields below; C3
	now       time.Time  // of the frame that is stepped; zero otherwise
	state     *mcp.State
	effects   []mcp.Effect // scratch
	exchanges map[mcp.ExchangeID]*exchange
	inFlight  map[codec.ID]mcp.ExchangeID // what the peer calls its requests; nil where ids may meet
	due       due
	tombs     tombstones
	changes   changes
	broken    []mcp.ExchangeID // a write to them failed in this step
	closing   bool             // requests are refused
	closed    bool
	idle      chan struct{} // closed when no request is live; nil when nobody waits
	later     later
	told      []Event       // for the observer
	spare     []Event       // what told was before
	entering  *entry        // what receive is stepping
	ack       func(error)   // for the next frame that is written
	asked     bool          // an ask was made at some time
	limbo     int           // handlers that were signalled and have not returned
	still     chan struct{} // closed when limbo comes to 0; nil when nobody waits

	ends    atomic.Pointer[run] // handlers that came to their ends, the newest first
	telling atomic.Bool         // somebody is in tell
	live    atomic.Int32        // len(exchanges)
	done    chan struct{}       // closed by Close
}

// exchange is a request that is not answered, a batch, or a subscription.
type exchange struct {
	ids  []codec.ID // in inFlight
	one  [1]codec.ID
	runs *run
	// account is nil unless there is an observer.
	account *account
}

// entry is what receive knows of the frame that it steps.
type entry struct {
	exchange mcp.ExchangeID
	ids      []codec.ID
	batch    bool
	closed   bool
	written  bool
	hit      bool // it ended another exchange
	broken   bool // the step panicked before it wrote anything
	account  *account
}

// outlet is where frames go. It is called under the connection's lock and never
// waits.
type outlet interface {
	// bind is called once, before anything else is.
	bind(c *Connection)
	// ended is called once, under no lock and on a goroutine of its own, when the
	// connection was closed.
	ended()
	// write takes a frame. ack, unless nil, is called once: when the frame was
	// written, or with why it was not. An error closes the exchange, and ack is
	// not called.
	write(x mcp.ExchangeID, e *mcp.Effect, ack func(error)) error
	// close says that nothing follows on an exchange.
	close(x mcp.ExchangeID)
	// full reports whether times the bound on what waits is used up, with a
	// channel that is closed when it may have changed.
	full(times int) (<-chan struct{}, bool)
	// waiting is how many bytes wait to be written.
	waiting() int64
	// fail gives the connection up. It is called under no lock.
	fail(err error)
}

// later is what a step leaves to do outside the lock.
type later struct {
	answers []answer
	drops   []codec.ID // calls of the engine to cancel
	fail    error      // why the connection is to be given up
	panics  []any      // of steps
}

// open makes a connection that writes to out. base gives values to the handlers'
// contexts; its end means nothing. The error is ErrStopped.
func (s *Server) open(base context.Context, caller mcp.Caller, out outlet) (*Connection, error) {
	c := &Connection{
		server: s, o: &s.o, out: out, base: context.WithoutCancel(base), caller: caller,
		exchanges: make(map[mcp.ExchangeID]*exchange), done: make(chan struct{}),
	}
	c.crew = crew{limit: s.o.MaxHandlers, abandoned: s.o.MaxAbandoned, serve: c.serve, wake: make(chan struct{}, 1)}
	c.tombs = tombstones{most: s.o.MaxTombstones, age: s.o.TombstoneAge}
	c.changes.most = s.o.MaxEvents
	c.fire = c.expire
	out.bind(c)
	return c, s.add(c)
}

// step takes one input and carries out what it leads to. c.mu is held.
//
// The one user code that runs in it are the rules of visibility. A panic there is
// not let through the lock: receive answers for it, and anything else that it
// happens in ends the connection, whose state nobody can be sure of.
func (c *Connection) step(in mcp.Input) {
	defer func() {
		if v := recover(); v != nil {
			c.broke(v)
		}
	}()
	effects := mcp.Step(c.state, in, c.effects[:0])
	c.effects = nil // a step within this one needs its own
	for i := range effects {
		c.carryOut(&effects[i])
	}
	clear(effects)
	c.effects = effects[:0]
	for len(c.broken) > 0 {
		x := c.broken[len(c.broken)-1]
		c.broken = c.broken[:len(c.broken)-1]
		c.step(mcp.ExchangeClosed{Exchange: x})
	}
}

// broke notes that a step panicked. c.mu is held.
func (c *Connection) broke(v any) {
	c.server.counts.panics.Add(1)
	c.later.panics = append(c.later.panics, v)
	if e := c.entering; e != nil && !e.closed && !e.written && len(e.ids) == 1 && !e.batch {
		e.broken = true
		return
	}
	c.later.fail = ErrBroken
}

// carryOut does one thing. c.mu is held.
func (c *Connection) carryOut(e *mcp.Effect) {
	switch e.Kind {
	case mcp.Admitted:
		c.server.counts.admitted.Add(1)
		if c.observed() {
			c.event(Event{Kind: RequestAdmitted, Exchange: e.Exchange, Method: e.Method, Correlation: e.Correlation})
		}
	case mcp.Write:
		c.write(e)
	case mcp.Start:
		c.start(e)
	case mcp.Cancel:
		c.cancel(e.Invocation)
	case mcp.Close:
		c.release(e)
	case mcp.Ask:
		c.ask(e)
	case mcp.Resolve:
		c.later.answers = append(c.later.answers, answer{id: e.ID, result: e.Frame, err: e.Err})
	}
}

func (c *Connection) write(e *mcp.Effect) {
	ack := c.ack
	c.ack = nil
	if c.entering != nil && c.entering.exchange == e.Exchange {
		c.entering.written = true
	}
	if a := c.account(e.Exchange); a != nil && e.Final {
		a.code = e.Code
	}
	if err := c.out.write(e.Exchange, e, ack); err != nil {
		if ack != nil {
			ack(err)
		}
		c.broken = append(c.broken, e.Exchange)
	}
}

// release ends an exchange.
func (c *Connection) release(e *mcp.Effect) {
	a := c.account(e.Exchange)
	switch {
	case c.entering == nil:
	case c.entering.exchange == e.Exchange:
		c.entering.closed = true
	default:
		c.entering.hit = true
	}
	if x, ok := c.exchanges[e.Exchange]; ok {
		delete(c.exchanges, e.Exchange)
		c.live.Store(int32(len(c.exchanges)))
		for _, id := range x.ids {
			delete(c.inFlight, id)
		}
		for r := x.runs; r != nil; r = r.sibling {
			c.settle(r)
		}
		if c.asked {
			c.asks.drop(c, e.Exchange)
		}
	}
	c.out.close(e.Exchange)
	if c.observed() {
		c.event(a.ended(e, c.state.Session()))
	}
	c.tellIdle()
}

// keep makes the record of an exchange that stays open.
func (c *Connection) keep(id mcp.ExchangeID) *exchange {
	x, ok := c.exchanges[id]
	if ok {
		return x
	}
	x = &exchange{account: c.account(id)}
	if c.inFlight != nil && c.entering != nil && c.entering.exchange == id {
		x.ids = append(x.one[:0], c.entering.ids...)
		for _, wire := range x.ids {
			c.inFlight[wire] = id
		}
	}
	c.exchanges[id] = x
	c.live.Store(int32(len(c.exchanges)))
	return x
}

// unlock ends a turn with the lock and does what was left for outside it.
func (c *Connection) unlock() {
	c.unlockOnly()
	c.gather()
}

// unlockOnly is unlock that leaves the ends of handlers which came meanwhile to who
// calls it.
func (c *Connection) unlockOnly() {
	l := c.later
	c.later = later{}
	told := len(c.told) > 0
	c.mu.Unlock()
	if told {
		c.tell()
	}
	c.asks.settle(c, l.answers, l.drops)
	for _, v := range l.panics {
		c.server.log(slog.LevelError, "a rule of visibility panicked", slog.String("panic", fmt.Sprint(v)))
	}
	if l.fail != nil {
		c.out.fail(l.fail)
	}
}

// clock is the time, read once for a frame. c.mu is held.
func (c *Connection) clock() time.Time {
	if c.entering != nil {
		return c.now
	}
	return time.Now()
}

func (c *Connection) observed() bool { return c.o.Observer != nil }

// spareEvents is how many events' memory is kept for the next ones.
const spareEvents = 64

// event notes an event for outside the lock.
func (c *Connection) event(e Event) { c.told = append(c.told, e) }

// tell shows the events to the observer, in order, whoever made them: one
// goroutine does it, and takes those along that come meanwhile. It is a part of
// unlock, which gathers after it.
func (c *Connection) tell() {
	for c.telling.CompareAndSwap(false, true) {
		c.mu.Lock()
		events := c.told
		c.told, c.spare = c.spare[:0], nil
		c.mu.Unlock()
		for i := range events {
			c.server.emit(events[i])
		}
		clear(events)
		c.mu.Lock()
		if cap(events) <= spareEvents {
			c.spare = events[:0]
		}
		c.telling.Store(false)
		more := len(c.told) > 0
		c.mu.Unlock()
		if !more {
			return
		}
	}
}

// tellIdle wakes who waits for the last request to be answered.
func (c *Connection) tellIdle() {
	if c.idle != nil && c.busyLocked() == 0 {
		close(c.idle)
		c.idle = nil
	}
}

// busyLocked is how many exchanges are live that are no subscriptions.
func (c *Connection) busyLocked() int { return len(c.exchanges) - len(c.state.OpenStreams()) }
