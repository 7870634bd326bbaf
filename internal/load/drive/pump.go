package drive

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// pump sends and records in the modes Batch and Callback. Its methods are for
// one goroutine, save settle, which connections call.
type pump struct {
	*state
	shard *tally.Shard
	slots []slot
	lanes []lane
	turn  int // the lane that the next request is offered to first
	free  int // slots of the pump's that are free, over all lanes
	out   int // slots of the connections'
	kept  int // slots of the pump's that a connection had no room for

	// chained is true while callbacks of a closed loop make the next call
	// themselves: see again. ctx is the run's.
	chained atomic.Bool
	ctx     context.Context

	// head is the settled slots not yet taken, as a linked list of index+1; 0
	// ends it. Pushed by settle, taken whole by collect, so that no slot can
	// come back between a load and a swap.
	head atomic.Uint32
	wake chan struct{} // told when head stops being 0

	next      time.Duration // the planned time of the next request in the run's own time, if more
	more      bool
	number    uint64        // of the next request, for its params
	fullUntil time.Duration // the last time at which there was no room for another call
	resumed   time.Duration // the end of the last pause
	samples   []tally.Sample
	// requests is what is handed to a connection in one go.
	requests []conn.Request
	warm     [handOver]bool // of the same
}

// handOver is how many requests are handed to a connection in one go. Each go is a
// write call, as a rule: by 128 a call took 0.01 of one and 534 ns of CPU, by 512
// 0.003 and 500. More does not come free at once.
const handOver = 512

// slot is one call in flight: 64 bytes on 64-bit systems, so that no two share a line,
// which goes from the pump's processor to that of the callbacks and back.
type slot struct {
	tally.Sample
	number uint64 // of the request
	link   uint32 // of the list at pump.head
	held   bool   // it waited for room
	told   bool   // its end was recorded by again
	notify func(conn.Outcome)
	_      [8]byte
}

// lane is one connection and the slots that belong to it.
type lane struct {
	link Link
	free []uint32 // the last one goes first
	due  []uint32 // to be sent, in order; those that the connection had no room for stay
	// stuck is since when it has had no room for any, 0 while it has.
	stuck time.Duration
}

func newPump(s *state) *pump {
	p := &pump{
		state: s, shard: s.tally.Shard(0), wake: make(chan struct{}, 1),
		slots: make([]slot, s.InFlight), lanes: make([]lane, len(s.links)), free: s.InFlight, samples: make([]tally.Sample, 0, s.InFlight),
		requests: make([]conn.Request, min(handOver, s.InFlight)),
	}
	for l := range p.lanes {
		n := s.links.share(s.InFlight, l)
		p.lanes[l] = lane{link: s.links[l], free: make([]uint32, 0, n), due: make([]uint32, 0, n)}
	}
	for i := range p.requests {
		o := &p.requests[i].Options
		*o, o.NoWait = s.call, true // the goroutine serves all connections
	}
	for i := len(p.slots) - 1; i >= 0; i-- {
		l := i % len(p.lanes)
		p.slots[i].Conn = uint16(l)
		p.slots[i].notify = func(o conn.Outcome) { p.settle(uint32(i), &o) }
		p.lanes[l].free = append(p.lanes[l].free, uint32(i))
	}
	return p
}

// run sends until the sending is over and returns when nothing is in flight. The
// error is that of a connection that went before that.
func (p *pump) run(ctx context.Context) error {
	p.ctx = ctx
	p.chained.Store(p.Mode == Callback && p.Schedule == nil && p.Control == nil)
	p.advance()
	sending, paused := true, false
	var failed error
	for {
		full := p.free == 0
		p.collect()
		if sending {
			if was := paused; p.Control != nil {
				if paused = p.steer(); was && !paused {
					p.resumed = p.now()
				}
			}
			now := p.now()
			own := p.clock.own(now)
			p.measuring(own)
			if full {
				p.fullUntil = now
			}
			// A number of requests ends the sending once all of them were taken.
			over := p.over(ctx, own) || p.counted() && p.kept == 0
			switch {
			case over:
				failed = p.finish(ctx)
			case !paused:
				p.fill(own, now)
				failed = p.send(ctx)
			}
			// A schedule's time goes on after its last request.
			if sending = !over && failed == nil && (paused || p.more || p.kept > 0 || own < p.length); !sending {
				p.abandon()
				p.chained.Store(false)
				p.stopSending()
				if p.End == Cut || ctx.Err() != nil {
					p.closeNow()
				}
			}
		}
		if !sending && p.out == 0 {
			return failed
		}
		if sending && !paused && p.Schedule == nil && p.free > 0 && p.kept == 0 {
			continue // what was dropped is planned anew
		}
		p.wait(ctx, sending, paused)
	}
}

// settle is the callback of slot i. It does not keep o.
func (p *pump) settle(i uint32, o *conn.Outcome) {
	s := &p.slots[i]
	s.Done = p.now()
	s.Kind = p.kindOf(o.Status, s.Entry, o.Value, o.Err)
	if p.chained.Load() && p.again(s) {
		return
	}
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
	n := 0
	for ; at != 0; n++ {
		s := &p.slots[at-1]
		if s.told {
			s.told = false
		} else {
			p.samples = append(p.samples, s.Sample)
		}
		l := &p.lanes[s.Conn]
		l.free = append(l.free, at-1)
		at = s.link
	}
	p.out -= n
	p.free += n
	p.record(p.shard, p.samples)
}

// retryAfter is how long the pump waits before it offers a connection again what
// that had no room for: the peer does not read, and nothing says when it will.
const retryAfter = time.Millisecond

// wait returns when something may be to do.
func (p *pump) wait(ctx context.Context, sending, paused bool) {
	own := p.own()
	if sending && !paused && p.kept == 0 && p.more && p.Schedule != nil && (p.free > 0 || p.Drop) {
		p.pause(ctx, min(p.next, p.length)-own, p.wake)
		return
	}
	var timeUp <-chan time.Time
	var steered <-chan struct{}
	if sending {
		steered = p.steered()
		left := time.Duration(-1)
		switch {
		case paused:
		case p.Schedule != nil && (!p.more || p.Duration > 0):
			left = p.length - own
		case p.Duration > 0:
			left = p.Warmup + p.Duration - own
		}
		if p.kept > 0 && !paused && (left < 0 || left > retryAfter) {
			left = retryAfter
		}
		if left >= 0 {
			timeUp = p.after(left)
		}
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
	case <-steered:
	case <-stop:
	}
}
