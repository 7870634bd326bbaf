package drive

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// stalledAfter is how long handing over a batch takes when it waits for a peer
// that does not read; what takes less was held up by the scheduler.
const stalledAfter = 10 * time.Millisecond

// pump sends and records in the modes Batch and Callback. Its methods are for
// one goroutine, save settle, which the connection calls.
type pump struct {
	*state
	shard *tally.Shard
	slots []slot
	free  []uint32 // slots of the pump's, the last one first
	out   int64    // slots of the connection's

	// head is the settled slots not yet taken, as a linked list of index+1; 0
	// ends it. Pushed by settle, taken whole by collect, so that no slot can
	// come back between a load and a swap.
	head atomic.Uint32
	wake chan struct{} // told when head stops being 0

	next      time.Duration // the planned time of the next request, if more
	more      bool
	number    uint64        // of the next request, for its params
	fullUntil time.Duration // see state.isBehind
	due       []uint32      // slots of the batch being sent
	requests  []conn.Request
	samples   []tally.Sample
}

// slot is one call in flight.
type slot struct {
	tally.Sample
	link   uint32 // of the list at pump.head
	notify func(conn.Outcome)
}

func newPump(s *state) *pump {
	p := &pump{
		state: s, shard: s.tally.Shard(0), wake: make(chan struct{}, 1),
		slots: make([]slot, s.InFlight), free: make([]uint32, s.InFlight),
		due: make([]uint32, 0, s.InFlight), requests: make([]conn.Request, s.InFlight), samples: make([]tally.Sample, 0, s.InFlight),
	}
	for i := range p.slots {
		p.free[i] = uint32(len(p.slots) - 1 - i)
		p.slots[i].notify = func(o conn.Outcome) { p.settle(uint32(i), o) }
		p.requests[i] = conn.Request{Method: s.Method, Options: s.call}
	}
	return p
}

// run sends until the sending is over and returns when nothing is in flight. The
// error is the connection's, if it went before that.
func (p *pump) run(ctx context.Context) error {
	p.advance()
	sending := true
	var failed error
	for {
		full := len(p.free) == 0
		p.collect()
		if sending {
			now := p.now()
			if full {
				p.fullUntil = now
			}
			over := p.over(ctx, now)
			if !over {
				p.fill(now)
				failed = p.send(ctx)
			} else if p.Schedule != nil && ctx.Err() == nil && !p.counted() {
				failed = p.finish(ctx)
			}
			// A schedule's time goes on after its last request.
			if sending = !over && failed == nil && (p.more || now < p.length); !sending {
				p.stopSending()
				if p.End == Cut || ctx.Err() != nil {
					p.closeNow()
				}
			} else if len(p.due) > 0 {
				continue
			}
		}
		if !sending && p.out == 0 {
			return failed
		}
		p.wait(ctx, sending)
	}
}

// advance takes the next planned time.
func (p *pump) advance() {
	if p.more = true; p.Schedule != nil {
		p.next, p.more = p.Schedule.Next()
	}
}

// fill chooses what to send now: p.due.
func (p *pump) fill(now time.Duration) {
	p.due = p.due[:0]
	var measured int64
	budget := int64(len(p.slots))
	if p.Requests > 0 {
		budget = p.Requests - p.measuredPlanned.Load()
	}
	for p.more && measured < budget && (p.Schedule == nil || p.next <= now) {
		if len(p.free) == 0 {
			if !p.Drop {
				break
			}
			p.plan(p.next, &measured)
			p.dropped.Add(1)
			p.advance()
			continue
		}
		i := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		s := &p.slots[i]
		if s.Planned = s.Done; p.Schedule != nil {
			s.Planned = p.next
			p.isBehind(p.next, now, p.fullUntil)
		} else if s.Done == 0 {
			s.Planned = now
		}
		s.Warm = p.plan(s.Planned, &measured)
		s.Sent = now
		p.requests[len(p.due)].Params = p.Payload.Params(p.number)
		p.requests[len(p.due)].Notify = s.notify
		p.number++
		p.due = append(p.due, i)
		p.advance()
	}
	p.measuredPlanned.Add(measured)
}

// finish sends what was due before the end of an open loop and finds room, and
// drops the rest.
func (p *pump) finish(ctx context.Context) error {
	p.fill(p.length - 1)
	err := p.send(ctx)
	var measured int64
	for p.more && p.next < p.length && (p.Requests == 0 || p.measuredPlanned.Load()+measured < p.Requests) {
		p.plan(p.next, &measured)
		p.dropped.Add(1)
		p.advance()
	}
	p.measuredPlanned.Add(measured)
	return err
}

// plan counts a planned request and reports whether it belongs to the warm-up.
func (p *pump) plan(at time.Duration, measured *int64) (warm bool) {
	p.planned.Add(1)
	if at < p.Warmup {
		return true
	}
	*measured++
	return false
}

// send hands p.due to the connection. What it does not accept comes back.
func (p *pump) send(ctx context.Context) error {
	if len(p.due) == 0 {
		return nil
	}
	accepted, err := p.hand(ctx)
	var measured int64
	for _, i := range p.due[:accepted] {
		// Warm does not change while the connection has the slot.
		if !p.slots[i].Warm {
			measured++
		}
	}
	p.countSent(int64(accepted), measured)
	p.out += int64(accepted)
	p.free = append(p.free, p.due[accepted:]...)
	if now := p.now(); now-p.slots[p.due[0]].Sent > stalledAfter {
		p.fullUntil = now
	}
	return err
}

func (p *pump) hand(ctx context.Context) (accepted int, err error) {
	if p.Mode == Batch {
		return p.conn.Submit(ctx, p.requests[:len(p.due)])
	}
	for i := range p.due {
		r := &p.requests[i]
		if _, err := p.conn.Start(ctx, r.Method, r.Params, r.Options, r.Notify); err != nil {
			return i, err
		}
	}
	return len(p.due), nil
}

// settle is the callback of slot i.
func (p *pump) settle(i uint32, o conn.Outcome) {
	s := &p.slots[i]
	s.Done = p.now()
	s.Kind = p.kindOf(o.Status, o.Value)
	for {
		head := p.head.Load()
		s.link = head
		if p.head.CompareAndSwap(head, i+1) { // publishes the slot
			if head == 0 {
				select {
				case p.wake <- struct{}{}:
				default:
				}
			}
			return
		}
	}
}

// collect records the settled slots and frees them.
func (p *pump) collect() {
	at := p.head.Swap(0)
	if at == 0 {
		return
	}
	p.samples = p.samples[:0]
	for at != 0 {
		s := &p.slots[at-1]
		p.samples = append(p.samples, s.Sample)
		p.free = append(p.free, at-1)
		at = s.link
	}
	p.out -= int64(len(p.samples))
	p.record(p.shard, p.samples)
}

// wait returns when something may be to do.
func (p *pump) wait(ctx context.Context, sending bool) {
	if sending && p.more && p.Schedule != nil && (len(p.free) > 0 || p.Drop) {
		p.pause(ctx, min(p.next, p.length)-p.now(), p.wake)
		return
	}
	var timeUp <-chan time.Time
	switch {
	case !sending:
	case p.Schedule != nil && (!p.more || p.Duration > 0):
		timeUp = p.after(p.length - p.now())
	case p.Duration > 0:
		timeUp = p.after(p.Warmup + p.Duration - p.now())
	}
	stop := ctx.Done()
	if !sending {
		// The calls in flight end by their timeouts, or at once by a cut.
		if ctx.Err() != nil && !p.cut.Load() {
			p.closeNow()
		}
		if p.cut.Load() {
			stop = nil
		}
	}
	select {
	case <-p.wake:
		// Let the reader get through the burst that it is in: more callbacks now
		// are fewer, larger batches.
		runtime.Gosched()
	case <-timeUp:
	case <-stop:
	}
}
