package drive

import (
	"sync"
	"time"
)

// clock is the run's own time, which stands still during a pause. It is moved by
// whoever sends and read by the sampler.
type clock struct {
	mu       sync.Mutex // protects the fields below
	paused   bool
	since    time.Duration // since when, in time since the beginning
	shift    time.Duration // the sum of all pauses that have ended
	resumes  []resume      // of pauses that have ended, in order
	events   []Event
	steering Steering
}

// resume is the end of a pause: what is planned at or after at, in the run's own
// time, is planned shift later in time since the beginning.
type resume struct{ at, shift time.Duration }

// own turns a time since the beginning, which must not lie before the last
// change, into the run's own.
func (c *clock) own(now time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		now = c.since
	}
	return now - c.shift
}

// due is when, since the beginning, a request was due that is planned at at in the run's
// own time. It must not lie in the future of a pause that goes on.
func (c *clock) due(at time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.resumes) - 1; i >= 0; i-- {
		if r := c.resumes[i]; at >= r.at {
			return at + r.shift
		}
	}
	return at
}

// steer notes at now what is asked for, and returns what changed by it and the
// factor by which the rest of the schedule is to be scaled.
func (c *clock) steer(now time.Duration, s Steering) (events []Event, scale float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steering.Factor == 0 {
		c.steering.Factor = 1
	}
	for _, text := range between(c.steering, s) {
		events = append(events, Event{At: now.Seconds(), Text: text, Steering: s})
	}
	c.events = append(c.events, events...)
	switch {
	case s.Paused && !c.paused:
		c.paused, c.since = true, now
	case c.paused && !s.Paused:
		at := c.since - c.shift
		c.shift += now - c.since
		c.paused = false
		c.resumes = append(c.resumes, resume{at, c.shift})
	}
	scale = s.Factor / c.steering.Factor
	c.steering = s
	return events, scale
}

// history is what was done, and what holds since.
func (c *clock) history() ([]Event, Steering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.steering
	if s.Factor == 0 {
		s.Factor = 1
	}
	return c.events, s
}
