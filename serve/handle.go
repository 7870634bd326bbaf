package serve

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/progress"
)

// start hands a handler to the crew. c.mu is held.
func (c *Connection) start(e *mcp.Effect) {
	now := c.clock()
	if c.tombs.take(e.Invocation, now) {
		return
	}
	r := &run{conn: c, inv: e.Run, taken: now}
	ctx, end := context.WithCancelCause(c.base)
	r.ctx.Context, r.ctx.run, r.end = ctx, r, end
	c.bind(r)
	x := c.keep(e.Exchange)
	if x.account != nil {
		x.account.ran(r)
	}
	x.runs, r.sibling = r, x.runs
	if c.o.Timeout > 0 {
		r.until = now.Add(c.o.Timeout)
		r.ctx.until = r.until
		c.due.add(r, now, c.fire)
	}
	c.crew.put(r)
}

// bind gives r the right to report, if the request asked for progress.
func (c *Connection) bind(r *run) {
	token := r.inv.ProgressToken()
	if token.IsAbsent() {
		return
	}
	sink, err := progress.NewSink(c.o.Progress)
	if err != nil {
		return // the limits were checked when the server was made
	}
	r.sink, r.state = sink, sink.State()
	r.reporter, _ = sink.Bind(progress.Context{Request: r.inv.RequestID(), Token: token, Shape: r.shape})
}

// serve runs a handler; the crew calls it.
func (c *Connection) serve(r *run) {
	if !c.begin(r) {
		return
	}
	returned := false
	defer func() {
		r.reporter.End() // a copy that somebody kept is good for nothing now
		if returned {
			return
		}
		// A panic, or runtime.Goexit: then there is nothing to recover.
		v := recover()
		c.crashed(r, v, debug.Stack())
	}()
	if c.o.Around == nil {
		r.came = mcp.Perform(&r.ctx, r.inv, r)
	} else {
		r.came = mcp.Finished{Invocation: r.inv.ID(), Outcome: c.o.Around(&r.ctx, Run{r})}
	}
	returned = true
	r.reporter.End()
	c.finished(r)
}

// begin reports whether r is still wanted.
func (c *Connection) begin(r *run) bool {
	if !c.observed() {
		return r.phase.CompareAndSwap(waiting, working)
	}
	c.mu.Lock()
	defer c.unlock()
	if !r.phase.CompareAndSwap(waiting, working) {
		return false
	}
	r.began = time.Now()
	c.event(r.eventOf(InvocationStarted))
	return true
}

// finished takes what a handler came to. It waits for room first, for as long as
// anybody wants the answer. It does not wait for the lock: what it brings is taken
// along by whoever has it.
func (c *Connection) finished(r *run) {
	for r.phase.Load() == working {
		room, full := c.out.full(1)
		if !full {
			break
		}
		select {
		case <-room:
		case <-r.ctx.Done():
		case <-c.done:
		}
	}
	for {
		r.fin = c.ends.Load()
		if c.ends.CompareAndSwap(r.fin, r) {
			break
		}
	}
	c.gather()
}

// gather takes along the ends that were brought, unless somebody has the lock: who
// does looks for more after letting go of it, and whoever brings one looks for the
// lock after that. So none is left lying.
func (c *Connection) gather() {
	for c.ends.Load() != nil && c.mu.TryLock() {
		c.takeEnds()
		c.unlockOnly()
	}
}

// takeEnds takes the ends that were brought, in order. c.mu is held.
func (c *Connection) takeEnds() {
	var first *run
	for r := c.ends.Swap(nil); r != nil; {
		next := r.fin
		r.fin, first = first, r
		r = next
	}
	for r := first; r != nil; {
		next := r.fin
		r.fin = nil
		c.came(r)
		r = next
	}
}

// came tells the reducer what a handler came to. c.mu is held.
func (c *Connection) came(r *run) {
	if c.returned(r) {
		return
	}
	if c.observed() {
		e := r.eventOf(InvocationCompleted)
		e.Status, e.Duration = r.came.Outcome.Status(), time.Since(r.began)
		c.event(e)
		c.account(r.inv.Exchange()).came(e.Status, "")
	}
	c.settle(r)
	c.step(r.came)
	r.came = mcp.Finished{}
}

// crashed takes a handler's panic, of which the peer learns nothing.
func (c *Connection) crashed(r *run, v any, stack []byte) {
	c.server.counts.panics.Add(1)
	what := "handler panicked"
	if v == nil {
		what = "handler ended its goroutine"
	}
	c.server.log(slog.LevelError, what,
		slog.String("method", r.inv.Method()), slog.String("tool", r.inv.Tool()),
		slog.String("correlation", r.inv.Correlation().String()), slog.String("panic", fmt.Sprint(v)), slog.String("stack", string(stack)))
	c.mu.Lock()
	defer c.unlock()
	if c.returned(r) {
		return
	}
	if c.observed() {
		e := r.eventOf(InvocationCrashed)
		e.Reason = "crashed"
		c.event(e)
		c.account(r.inv.Exchange()).came(0, e.Reason)
	}
	c.settle(r)
	c.step(mcp.Crashed{Invocation: r.inv.ID()})
}

// returned notes that r's handler is no longer at work, and reports whether
// nobody listens to it any more. c.mu is held.
func (c *Connection) returned(r *run) bool {
	if r.phase.Load() != over {
		return false
	}
	if r.grace != nil {
		r.grace.Stop()
	}
	c.limbo--
	if c.limbo == 0 && c.still != nil {
		close(c.still)
		c.still = nil
	}
	return true
}

// settle ends r once, whoever comes first; it gives the phase in which r was. c.mu
// is held.
func (c *Connection) settle(r *run) uint32 {
	was := r.phase.Swap(over)
	switch was {
	case over:
		return over
	case waiting:
		c.crew.withdraw(r)
	}
	c.due.remove(r)
	r.sink.Close()
	r.end(context.Canceled)
	return was
}

// signal ends r for everybody but its handler, which has its grace from now on.
// c.mu is held.
func (c *Connection) signal(r *run) {
	if c.settle(r) != working {
		return
	}
	c.limbo++
	switch {
	case c.o.Grace <= 0:
		c.crew.abandon(r)
	default:
		r.grace = time.AfterFunc(c.o.Grace, func() { c.crew.abandon(r) })
	}
}

// cancel signals the handler of an invocation. c.mu is held.
func (c *Connection) cancel(id mcp.InvocationID) {
	x := c.exchanges[id.Exchange()]
	if x == nil {
		c.tombs.add(id, time.Now())
		return
	}
	for r := x.runs; r != nil; r = r.sibling {
		if r.inv.ID() != id || r.phase.Load() == over {
			continue
		}
		if c.observed() {
			c.event(r.eventOf(InvocationCancelled))
			x.account.came(0, "cancelled")
		}
		r.sink.Close() // a handler that sees the signal reports nothing more
		mcp.SignalCancelled(r.end, id)
		c.signal(r)
		return
	}
	if c.asked {
		c.asks.drop(c, id.Exchange())
	}
}

// expire answers for the handlers whose time is up; the timer calls it.
func (c *Connection) expire() {
	c.mu.Lock()
	defer c.unlock()
	for {
		now := time.Now()
		r := c.due.next(now, c.fire)
		if r == nil {
			return
		}
		if c.observed() {
			e := r.eventOf(InvocationCrashed)
			e.Reason = "timed_out"
			c.event(e)
			c.account(r.inv.Exchange()).came(0, e.Reason)
		}
		c.server.counts.timeouts.Add(1)
		r.sink.Close()
		r.end(errTimedOut)
		c.signal(r)
		c.step(mcp.TimedOut{Invocation: r.inv.ID()})
	}
}

// progressed takes a report to the reducer, and to the peer. The answer comes
// when the bytes went out.
func (c *Connection) progressed(r *run, report progress.Report) {
	c.mu.Lock()
	defer c.unlock()
	frame, err := r.state.Accept(nil, report)
	if err == nil {
		err = c.out.write(r.inv.Exchange(), &mcp.Effect{Kind: mcp.Write, Exchange: r.inv.Exchange(), Frame: frame}, func(err error) {
			if err != nil {
				err = fmt.Errorf("%w: %w", progress.ErrClosed, err)
			}
			report.Reply(err)
		})
		if err == nil {
			return
		}
		c.step(mcp.ExchangeClosed{Exchange: r.inv.Exchange()})
		err = fmt.Errorf("%w: %w", progress.ErrClosed, err)
	}
	report.Reply(err)
}

// logged takes a log line to the reducer, and to the peer if it asked for such.
func (c *Connection) logged(r *run, m mcp.LogMessage, ack func(error)) error {
	c.mu.Lock()
	defer c.unlock()
	if r.phase.Load() != working {
		return ErrExchangeClosed
	}
	c.ack = ack
	c.step(mcp.Logged{Invocation: r.inv.ID(), Message: m})
	if c.ack != nil { // nobody asked for it
		c.ack(nil)
		c.ack = nil
	}
	return nil
}

// eventOf begins an event about r.
func (r *run) eventOf(kind EventKind) Event {
	return Event{
		Kind: kind, Exchange: r.inv.Exchange(), Invocation: r.inv.ID(),
		Method: r.inv.Method(), Tool: r.inv.Tool(), Prompt: r.inv.Prompt(), Revision: r.inv.Revision(), Correlation: r.inv.Correlation(),
	}
}
