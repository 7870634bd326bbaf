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
}

// due is a request of the open loop on its way to a caller.
type due struct {
	at   time.Duration
	warm bool
}

func newCallers(s *state) *callers {
	return &callers{state: s, room: make(chan struct{}, s.InFlight), failed: make(chan error, 1)}
}

// run sends until the sending is over and returns when nothing is in flight. The
// error is the connection's, if it went before that.
func (c *callers) run(ctx context.Context) error {
	c.stop, c.stopNow = context.WithCancel(ctx)
	defer c.stopNow()
	queue := make(chan due, c.InFlight)
	var workers sync.WaitGroup
	for w := range c.InFlight {
		shard := c.tally.Shard(w)
		workers.Go(func() {
			if c.Schedule == nil {
				c.loop(shard)
				return
			}
			for d := range queue {
				c.one(d, c.now(), shard)
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

// dispatch hands out requests at their times, and lets a schedule's time go on
// after its last one.
func (c *callers) dispatch(queue chan<- due) {
	c.handOut(queue)
	if !c.counted() {
		c.pauseUntil(c.length)
	}
}

// pauseUntil waits for a time of the run, or for stop.
func (c *callers) pauseUntil(at time.Duration) {
	for now := c.now(); now < at && c.stop.Err() == nil; now = c.now() {
		c.pause(c.stop, at-now, nil)
	}
}

// handOut does dispatch's work. The queue always has room for those that hold a
// token.
func (c *callers) handOut(queue chan<- due) {
	var timeUp <-chan time.Time
	if c.Duration > 0 {
		timer := time.NewTimer(c.length - c.now())
		defer timer.Stop()
		timeUp = timer.C
	}
	var fullUntil time.Duration
	late := false // the time is up: nobody comes free for what is still due
	for at, more := c.Schedule.Next(); more; at, more = c.Schedule.Next() {
		if c.over(c.stop, at) {
			return
		}
		if c.pauseUntil(at); c.stop.Err() != nil {
			return
		}
		d := due{at: at, warm: at < c.Warmup}
		c.take(d.warm)
		got, waited := c.takeRoom(&late, timeUp)
		switch {
		case !got && c.stop.Err() != nil:
			c.untake(d.warm)
			return
		case !got:
			c.dropped.Add(1)
			continue
		case waited:
			fullUntil = c.now()
		}
		c.isBehind(at, c.now(), fullUntil)
		queue <- d
	}
}

// takeRoom takes a token, waiting for one unless what exceeds the cap is dropped
// or the time is up, which it notes in late.
func (c *callers) takeRoom(late *bool, timeUp <-chan time.Time) (got, waited bool) {
	select {
	case c.room <- struct{}{}:
		return true, false
	default:
	}
	if c.Drop || *late {
		return false, false
	}
	select {
	case c.room <- struct{}{}:
		return true, true
	case <-timeUp:
		*late = true
	case <-c.stop.Done():
	}
	return false, false
}

// awaitEnd waits until the closed loop's sending is over.
func (c *callers) awaitEnd(ended <-chan struct{}) {
	var timeUp <-chan time.Time
	if c.Duration > 0 {
		timer := time.NewTimer(c.Warmup + c.Duration - c.now())
		defer timer.Stop()
		timeUp = timer.C
	}
	select {
	case <-c.stop.Done():
	case <-ended:
	case <-timeUp:
	}
}

// loop is one caller of the closed loop: each call is due when the one before
// has ended.
func (c *callers) loop(shard *tally.Shard) {
	for at := c.now(); !c.over(c.stop, at); at = c.now() {
		d := due{at: at, warm: at < c.Warmup}
		if n := c.take(d.warm); c.Requests > 0 && n > c.Requests {
			c.untake(d.warm)
			return
		}
		if !c.one(d, at, shard) {
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
func (c *callers) one(d due, sent time.Duration, shard *tally.Shard) bool {
	var measured int64
	if !d.warm {
		measured = 1
	}
	c.countSent(1, measured)
	params := c.Payload.Params(c.number.Add(1) - 1)
	value, err := c.conn.Call(context.Background(), c.Method, params, c.call)
	sample := tally.Sample{Planned: d.at, Sent: sent, Done: c.now(), Kind: c.kindOf(statusOf(err), value), Warm: d.warm}
	if sample.Kind == tally.Lost {
		if reached, known := conn.Sent(err); known && !reached {
			c.countSent(-1, -measured)
			select {
			case c.failed <- err:
			default:
			}
			c.stopNow()
			return false
		}
	}
	c.record(shard, []tally.Sample{sample})
	return true
}
