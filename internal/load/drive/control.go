package drive

import (
	"fmt"
	"sync"
)

// The bounds of a rate factor.
const (
	FactorMin = 0.001
	FactorMax = 1000
)

// Control steers a run from outside while it goes on: put one into
// [Config.Control] and keep it. The zero value is ready. It serves one run. All
// methods are safe for concurrent use, do not wait, and may be called before the
// run begins and after it has ended, when they change nothing.
//
// A pause stops the run's clock: the schedule, its stages and the end of the run
// move by it, calls in flight go on, and what was already due keeps its planned
// time. A factor multiplies the rate of an open loop from then on, without
// changing how long its stages last; a closed loop has no rate and ignores it.
type Control struct {
	mu      sync.Mutex // protects the fields below
	paused  bool
	factor  float64 // 0 is 1
	stopped bool
	changed chan struct{} // told of every change; made on demand, capacity 1
}

// Steering is what a [Control] asks for.
type Steering struct {
	Paused  bool    `json:"paused"`
	Factor  float64 `json:"factor"` // of the scheduled rate
	Stopped bool    `json:"stopped"`
}

// Event is something that was done to a run while it went on.
type Event struct {
	At       float64  `json:"at"`       // seconds since the beginning of the run, pauses included
	Text     string   `json:"text"`     // what was done, for a person
	Steering Steering `json:"steering"` // what holds from then on
}

// Pause stops sending until Resume.
func (c *Control) Pause() { c.change(func() { c.paused = true }) }

// Resume ends a pause.
func (c *Control) Resume() { c.change(func() { c.paused = false }) }

// Scale sets the factor by which the scheduled rate is multiplied: 1 is as
// scheduled, and two calls do not add up. It is kept between FactorMin and
// FactorMax, and returned.
func (c *Control) Scale(factor float64) float64 {
	c.change(func() {
		if !(factor >= FactorMin) { // NaN too
			factor = FactorMin
		}
		factor = min(factor, FactorMax)
		c.factor = factor
	})
	return factor
}

// Nudge multiplies the factor in force by by, so that Nudge(1.1) is 10 % more, and
// returns what came of it.
func (c *Control) Nudge(by float64) float64 { return c.Scale(c.Steering().Factor * by) }

// Stop ends the sending as the end of the time would: calls in flight are waited
// for or cut as [Config.End] says, and the result is whole. It ends a pause.
func (c *Control) Stop() { c.change(func() { c.stopped, c.paused = true, false }) }

// Steering returns what is asked for now.
func (c *Control) Steering() Steering {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Steering{Paused: c.paused, Factor: c.factor, Stopped: c.stopped}
	if s.Factor == 0 {
		s.Factor = 1
	}
	return s
}

func (c *Control) change(how func()) {
	c.mu.Lock()
	how()
	c.mu.Unlock()
	select {
	case c.signal() <- struct{}{}:
	default:
	}
}

// signal is the channel that is told of changes. One run listens.
func (c *Control) signal() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{}, 1)
	}
	return c.changed
}

// between says in words what changed from a to b, nothing if nothing did.
func between(a, b Steering) (events []string) {
	switch {
	case b.Stopped && !a.Stopped:
		events = append(events, "stopped")
	case b.Paused && !a.Paused:
		events = append(events, "paused")
	case a.Paused && !b.Paused:
		events = append(events, "resumed")
	}
	if a.Factor != b.Factor {
		events = append(events, fmt.Sprintf("rate × %.4g", b.Factor))
	}
	return events
}
