package drive

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// callers sends and records in the mode Blocking: InFlight goroutines that each
// wait in Conn.Call.
type callers struct {
	*state
	number  atomic.Uint64 // of the next request
	room    chan struct{} // open loop: a token per call handed out and not ended
	failed  chan error    // the first failure to send
	stop    context.Context
	stopNow context.CancelFunc
	gate    gate // closed loop: shut while the run is paused
}

// due is a request of the open loop on its way to a caller, with the time at which
// it was due.
type due struct {
	at   time.Duration
	warm bool
	held bool // it waited for a caller
}

func newCallers(s *state) *callers {
	return &callers{state: s, room: make(chan struct{}, s.InFlight), failed: make(chan error, 1)}
}

// run sends until the sending is over and returns when nothing is in flight. The
// error is that of a connection that went before that.
func (c *callers) run(ctx context.Context) error {
	c.stop, c.stopNow = context.WithCancel(ctx)
	defer c.stopNow()
	queue := make(chan due, c.InFlight)
	var workers sync.WaitGroup
	for w := range c.InFlight {
		shard := c.tally.Shard(w)
		link := w % len(c.links)
		workers.Go(func() {
			if c.Schedule == nil {
				c.loop(link, shard)
				return
			}
			for d := range queue {
				sent := c.now()
				c.isBehind(d.at, sent, d.held)
				c.one(d, sent, link, shard)
				<-c.room
			}
		})
	}
	ended := make(chan struct{})
	go func() { workers.Wait(); close(ended) }()
	if c.Schedule != nil {
		c.dispatch(queue)
	} else {
		c.awaitEnd(ended)
	}
	close(queue)
	c.stopNow()
	c.gate.open()
	c.stopSending()
	if c.End == Cut {
		c.closeNow()
	}
	select {
	case <-ended:
	case <-ctx.Done():
		c.closeNow()
		<-ended
	}
	select {
	case err := <-c.failed:
		return err
	default:
		return nil
	}
}

// awaitEnd waits until the closed loop's sending is over, and steers meanwhile.
func (c *callers) awaitEnd(ended <-chan struct{}) {
	for {
		c.gate.set(c.steer())
		own := c.own()
		if c.over(c.stop, own) {
			return
		}
		var timeUp <-chan time.Time
		if c.Duration > 0 && !c.gate.isShut() {
			timeUp = c.after(c.Warmup + c.Duration - own)
		}
		select {
		case <-c.stop.Done():
		case <-ended:
			return
		case <-timeUp:
		case <-c.steered():
		}
	}
}

// loop is one caller of the closed loop: each call is due when the one before
// has ended.
func (c *callers) loop(link int, shard *tally.Shard) {
	for {
		c.gate.wait()
		at := c.now()
		own := c.clock.own(at)
		if c.over(c.stop, own) {
			return
		}
		d := due{at: at, warm: !c.measuring(own)}
		if n := c.take(d.warm); c.Requests > 0 && n > c.Requests {
			c.untake(d.warm)
			return
		}
		if !c.one(d, at, link, shard) {
			return
		}
	}
}

// take counts one more planned request and returns how many of them are measured.
func (c *callers) take(warm bool) int64 {
	c.planned.Add(1)
	if warm {
		return 0
	}
	return c.measuredPlanned.Add(1)
}

func (c *callers) untake(warm bool) {
	c.planned.Add(-1)
	if !warm {
		c.measuredPlanned.Add(-1)
	}
}

// one makes a call and records it. It returns false, and stops the sending, when
// the connection did not take the call.
func (c *callers) one(d due, sent time.Duration, link int, shard *tally.Shard) bool {
	var measured int64
	if !d.warm {
		measured = 1
	}
	c.countSent(1, measured)
	entry, params := c.Mix.Pick(c.number.Add(1) - 1)
	value, err := c.links[link].Call(context.Background(), c.entries[entry].Method, params, c.call)
	sample := tally.Sample{
		Planned: d.at, Sent: sent, Done: c.now(), Kind: c.kindOf(statusOf(err), uint16(entry), value, err), Warm: d.warm,
		Conn: uint16(link), Entry: uint16(entry),
	}
	if sample.Kind == tally.Lost {
		if reached, known := conn.Sent(err); known && !reached {
			c.countSent(-1, -measured)
			c.unsent.Add(-1)
			select {
			case c.failed <- c.links.named(link, err):
			default:
			}
			c.stopNow()
			return false
		}
	}
	c.record(shard, []tally.Sample{sample})
	return true
}

// gate holds the callers of a closed loop back during a pause. The zero value is
// open.
type gate struct {
	mu     sync.Mutex    // protects closed
	closed chan struct{} // nil while open
}

func (g *gate) set(shut bool) {
	if !shut {
		g.open()
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		close(g.closed)
		g.closed = nil
	}
}

func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed != nil
}

func (g *gate) wait() {
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if closed != nil {
		<-closed
	}
}
