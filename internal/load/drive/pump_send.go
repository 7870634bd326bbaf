package drive

import (
	"context"
	"errors"
	"time"

	"github.com/correlator-go/correlator/conn"
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
	var measured int64
	budget := int64(len(p.slots))
	if p.Requests > 0 {
		budget = p.Requests - p.measuredPlanned.Load()
	}
	for p.more && measured < budget && (p.Schedule == nil || p.next <= own) {
		if p.free == 0 {
			if !p.Drop {
				break
			}
			p.plan(p.next, &measured)
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
		s.Warm = p.plan(planned, &measured)
		r := &l.requests[len(l.due)]
		entry, params := p.Mix.Pick(p.number)
		s.Entry = uint16(entry)
		r.Method, r.Params, r.Notify = p.entries[entry].Method, params, s.notify
		p.number++
		l.due = append(l.due, i)
		p.advance()
	}
	p.measuredPlanned.Add(measured)
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

// plan counts a request planned in the run's own time, and reports whether it
// belongs to the warm-up.
func (p *pump) plan(at time.Duration, measured *int64) (warm bool) {
	p.planned.Add(1)
	if at < p.Warmup {
		return true
	}
	*measured++
	return false
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

func (p *pump) sendLane(ctx context.Context, l *lane) error {
	now := p.now()
	for _, i := range l.due {
		p.slots[i].Sent = now
	}
	accepted, err := p.hand(ctx, l)
	var measured int64
	for _, i := range l.due[:accepted] {
		// The connection has the slot now, but writes neither of these.
		s := &p.slots[i]
		p.isBehind(s.Planned, now, s.held)
		if !s.Warm {
			measured++
		}
	}
	p.countSent(int64(accepted), measured)
	p.out += accepted
	rest := copy(l.due, l.due[accepted:])
	copy(l.requests, l.requests[accepted:len(l.due)])
	l.due = l.due[:rest]
	for _, i := range l.due {
		p.slots[i].held = true
	}
	if errors.Is(err, conn.ErrFull) {
		err = nil
	}
	return err
}

// hand offers what is due to the connection, which does not wait for room.
func (p *pump) hand(ctx context.Context, l *lane) (accepted int, err error) {
	if p.Mode == Batch {
		return l.link.Submit(ctx, l.requests[:len(l.due)])
	}
	for i := range l.due {
		r := &l.requests[i]
		if _, err := l.link.Start(ctx, r.Method, r.Params, r.Options, r.Notify); err != nil {
			return i, err
		}
	}
	return len(l.due), nil
}

// finish sends what was due before the end of an open loop and finds room, and
// drops the rest, unless it is a number or ctx that ends the sending.
func (p *pump) finish(ctx context.Context) error {
	if p.Schedule == nil || ctx.Err() != nil || p.counted() {
		return nil
	}
	p.fill(p.length-1, p.now())
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

// abandon drops what is due and was not taken by the end of the sending.
func (p *pump) abandon() {
	for n := range p.lanes {
		l := &p.lanes[n]
		p.dropped.Add(int64(len(l.due)))
		p.free += len(l.due)
		l.free = append(l.free, l.due...)
		l.due = l.due[:0]
	}
	p.kept = 0
}
