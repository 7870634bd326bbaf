package drive

import (
	"context"
	"errors"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// advance takes the next planned time.
func (p *pump) advance() {
	if p.more = true; p.Schedule != nil {
		p.next, p.more = p.Schedule.Next()
	}
}

// lane returns one with a free slot, each in turn. There must be one.
func (p *pump) lane() *lane {
	for {
		l := &p.lanes[p.turn]
		if p.turn++; p.turn == len(p.lanes) {
			p.turn = 0
		}
		if len(l.free) > 0 {
			return l
		}
	}
}

// fill gives what is due at own, in the run's own time, to the lanes.
func (p *pump) fill(own, now time.Duration) {
	var all, measured int64 // planned now, and the part of it after the warm-up
	budget := int64(len(p.slots))
	if p.Requests > 0 {
		budget = p.Requests - p.measuredPlanned.Load()
	}
	chained := p.chained.Load()
	for p.more && measured < budget && (p.Schedule == nil || p.next <= own) {
		if p.free == 0 {
			if !p.Drop {
				break
			}
			if all++; p.next >= p.Warmup {
				measured++
			}
			p.dropped.Add(1)
			p.advance()
			continue
		}
		l := p.lane()
		i := l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
		p.free--
		s := &p.slots[i]
		planned := p.due(s, now)
		if s.Warm = planned < p.Warmup; chained {
			var ok bool
			if s.number, ok = p.take(s.Warm); !ok {
				l.free = append(l.free, i)
				p.free++
				break
			}
		} else {
			if all++; !s.Warm {
				measured++
			}
			s.number = p.number
			p.number++
		}
		l.due = append(l.due, i)
		p.advance()
	}
	p.plan(all, measured)
}

// due notes in s when its request is due, and returns the same in the run's own
// time.
func (p *pump) due(s *slot, now time.Duration) time.Duration {
	switch {
	case p.Schedule != nil:
		if s.Planned = p.next; p.Control != nil {
			s.Planned = p.clock.due(p.next)
		}
		s.held = s.Planned < p.fullUntil
		return p.next
	case s.Done == 0:
		s.Planned = now // its caller was free before the run began
	default:
		s.Planned = max(s.Done, p.resumed)
	}
	if p.Control != nil {
		return p.clock.own(s.Planned)
	}
	return s.Planned
}

// plan counts planned requests.
func (p *pump) plan(all, measured int64) {
	p.planned.Add(all)
	p.measuredPlanned.Add(measured)
}

// send hands each lane's due requests to its connection. What that has no room for
// stays due.
func (p *pump) send(ctx context.Context) error {
	p.kept = 0
	for n := range p.lanes {
		l := &p.lanes[n]
		if len(l.due) == 0 {
			continue
		}
		err := p.sendLane(ctx, l)
		p.kept += len(l.due)
		if err != nil {
			return p.links.named(n, err)
		}
	}
	return nil
}

// sendLane hands over what is due on one connection, some at a time.
func (p *pump) sendLane(ctx context.Context, l *lane) error {
	sent := 0
	var err error
	for sent < len(l.due) && err == nil {
		var accepted int
		accepted, err = p.hand(ctx, l, l.due[sent:min(sent+len(p.requests), len(l.due))])
		sent += accepted
	}
	l.due = l.due[:copy(l.due, l.due[sent:])]
	if err == nil {
		l.stuck = 0
	}
	if !errors.Is(err, conn.ErrFull) {
		return err
	}
	for _, i := range l.due {
		p.slots[i].held = true
	}
	switch now := p.now(); {
	case sent > 0 || l.stuck == 0:
		l.stuck = now
	case p.Timeout >= 0 && now-l.stuck > p.patience():
		p.drop(l) // nobody waits longer for a call to begin than for its end
	}
	return nil
}

// patience is how long a request waits for room.
func (p *pump) patience() time.Duration {
	if p.Timeout > 0 {
		return p.Timeout
	}
	return engine.DefaultTimeout
}

// hand offers the requests of slots to the connection, which does not wait for room,
// and counts those that it took.
func (p *pump) hand(ctx context.Context, l *lane, slots []uint32) (accepted int, err error) {
	now := p.now()
	requests := p.requests[:len(slots)]
	for n, i := range slots {
		s, r := &p.slots[i], &requests[n]
		s.Sent, p.warm[n] = now, s.Warm
		var entry int
		entry, r.Params = p.Mix.Pick(s.number)
		s.Entry, r.Method, r.Notify = uint16(entry), p.entries[entry].Method, s.notify
	}
	if p.Mode == Batch {
		accepted, err = l.link.Submit(ctx, requests)
	} else {
		for n := range requests {
			r := &requests[n]
			if _, err = l.link.Start(ctx, r.Method, r.Params, r.Options, r.Notify); err != nil {
				break
			}
			accepted++
		}
	}
	// The slots are the connection's now. In an open loop it writes nothing of what
	// is read here.
	var measured int64
	for n, i := range slots[:accepted] {
		if !p.warm[n] {
			measured++
		}
		if p.Schedule != nil {
			p.isBehind(p.slots[i].Planned, now, p.slots[i].held)
		}
	}
	p.countSent(int64(accepted), measured)
	p.out += accepted
	return accepted, err
}

// finish sends what was due before the end of an open loop and finds room, and
// drops the rest, unless it is a number or ctx that ends the sending.
func (p *pump) finish(ctx context.Context) error {
	if p.Schedule == nil || ctx.Err() != nil || p.counted() {
		return nil
	}
	p.fill(p.length-1, p.now())
	err := p.send(ctx)
	var all, measured int64
	for p.more && p.next < p.length && (p.Requests == 0 || p.measuredPlanned.Load()+measured < p.Requests) {
		if all++; p.next >= p.Warmup {
			measured++
		}
		p.advance()
	}
	p.dropped.Add(all)
	p.plan(all, measured)
	return err
}

// abandon drops what is due and was not taken by the end of the sending.
func (p *pump) abandon() {
	for n := range p.lanes {
		p.drop(&p.lanes[n])
	}
	p.kept = 0
}

// drop gives up what is due on one connection.
func (p *pump) drop(l *lane) {
	p.dropped.Add(int64(len(l.due)))
	p.free += len(l.due)
	l.free = append(l.free, l.due...)
	l.due, l.stuck = l.due[:0], 0
}

// take counts a request that is planned while callbacks plan some too, and returns
// its number; false if there have been enough.
func (p *pump) take(warm bool) (number uint64, ok bool) {
	if !warm {
		if n := p.measuredPlanned.Add(1); p.Requests > 0 && n > p.Requests {
			p.measuredPlanned.Add(-1)
			return 0, false
		}
	}
	return uint64(p.planned.Add(1) - 1), true
}

// again makes the next call of a closed loop in the mode Callback, on the slot of
// the one that has just ended and on the goroutine that ended it, as a program
// would that calls from its callbacks. It reports false, and leaves the slot to
// the pump, when the sending is over or the connection has no room.
func (p *pump) again(s *slot) bool {
	p.record(p.shard, []tally.Sample{s.Sample})
	s.told = true
	warm := !p.measuring(s.Done)
	if p.over(p.ctx, s.Done) {
		return false
	}
	var ok bool
	if s.number, ok = p.take(warm); !ok {
		return false
	}
	var measured int64
	if !warm {
		measured = 1
	}
	entry, params := p.Mix.Pick(s.number)
	s.Entry, s.Warm, s.Planned, s.Sent, s.told = uint16(entry), warm, s.Done, s.Done, false
	p.countSent(1, measured)
	o := p.call
	o.NoWait = true
	link := p.lanes[s.Conn].link
	if _, err := link.Start(p.ctx, p.entries[entry].Method, params, o, s.notify); err == nil {
		return true // the slot is the connection's
	}
	// The pump meets the same error, or finds that there is room by then.
	s.told = true
	p.countSent(-1, -measured)
	p.planned.Add(-1)
	p.measuredPlanned.Add(-measured)
	return false
}
