package drive

import "time"

// dispatch hands out the open loop's requests at their times to callers that wait
// at queue, and lets a schedule's time go on after its last one.
func (c *callers) dispatch(queue chan<- due) {
	if c.handOut(queue); !c.counted() {
		_ = c.pauseUntil(c.end)
	}
}

// end is when an open loop's time is up, in the run's own time.
func (c *callers) end() time.Duration { return c.length }

// pauseUntil waits for a time of the run's own, which may move, and reports
// whether it came: whether nothing stopped the sending before.
func (c *callers) pauseUntil(at func() time.Duration) bool {
	for {
		paused := c.steer()
		if c.stop.Err() != nil {
			return false
		}
		own := c.own()
		switch {
		case !paused && own >= at():
			return true
		case paused:
			select {
			case <-c.steered():
			case <-c.stop.Done():
			}
		default:
			c.pause(c.stop, at()-own, nil)
		}
	}
}

// handOut does dispatch's work. The queue always has room for those that hold a
// token.
func (c *callers) handOut(queue chan<- due) {
	late := false // the time is up: nobody comes free for what is still due
	var fullUntil time.Duration
	for at, more := c.Schedule.Next(); more && at < c.length; at, more = c.Schedule.Next() {
		if c.counted() || !c.pauseUntil(func() time.Duration { return min(at, c.length) }) || at >= c.length {
			return
		}
		d := due{at: c.clock.due(at), warm: !c.measuring(at)}
		c.take(d.warm)
		got, waited := c.takeRoom(&late)
		if waited {
			fullUntil = c.now()
		}
		if d.held = d.at < fullUntil; got {
			queue <- d
			continue
		}
		if c.stop.Err() != nil {
			c.untake(d.warm)
			return
		}
		c.dropped.Add(1)
	}
}

// takeRoom takes a token, waiting for one unless what exceeds the cap is dropped
// or the time is up, which it notes in late.
func (c *callers) takeRoom(late *bool) (got, waited bool) {
	select {
	case c.room <- struct{}{}:
		return true, false
	default:
	}
	if c.Drop || *late {
		return false, false
	}
	for {
		paused := c.steer()
		var timeUp <-chan time.Time
		if left := c.length - c.own(); c.Duration > 0 && !paused || c.stopped.Load() {
			if left <= 0 {
				*late = true
				return false, false
			}
			timeUp = c.after(left)
		}
		select {
		case c.room <- struct{}{}:
			return true, true
		case <-timeUp:
		case <-c.steered():
		case <-c.stop.Done():
			return false, false
		}
	}
}
