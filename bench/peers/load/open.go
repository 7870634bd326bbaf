package load

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/internal/load/drive"
)

// Schedule is an open loop.
type Schedule struct {
	Rate         float64 // calls a second
	Warm, Window time.Duration
	// InFlight bounds the calls that are out at once. What is due above it waits,
	// and its latency counts all the while.
	InFlight int
	Budget   time.Duration
}

const (
	// pace is how long the generator sleeps between two looks at the clock. What
	// fell due meanwhile is begun at once, and is late by that much for everybody.
	pace = 100 * time.Microsecond
	// backlogMax is for how long calls may pile up before the client is said not
	// to hold the rate.
	backlogMax = time.Second
)

// Open begins calls on schedule and measures them from their planned times. begin
// must not wait for the answer; done is called once for each, from any goroutine.
func Open(s Schedule, m Meter, begin func(done func(error))) (Figures, error) {
	l := new(Loop)
	var inFlight atomic.Int64
	interval := float64(time.Second) / s.Rate
	start := time.Now()
	measured := int64(s.Warm.Seconds() * s.Rate)
	last := measured + int64(s.Window.Seconds()*s.Rate)
	var cost Cost
	for n := int64(0); n < last; {
		due := min(int64(float64(time.Since(start))/interval)+1, last)
		if backlog := time.Duration(float64(due-n) * interval); backlog > backlogMax {
			return nil, fmt.Errorf("does not hold %.0f calls/s: %v behind", s.Rate, backlog.Round(time.Millisecond))
		}
		for ; n < due && inFlight.Load() < int64(s.InFlight); n++ {
			planned := time.Duration(float64(n) * interval)
			lane, warm := int(n), n < measured
			if n == measured {
				cost = m.Read()
			}
			inFlight.Add(1)
			begin(func(err error) {
				switch {
				case err != nil:
					l.Failed(lane, err)
				case !warm:
					l.Took(lane, time.Since(start)-planned)
				default:
					l.Done(lane, 1)
				}
				inFlight.Add(-1)
			})
		}
		drive.PreciseSleep(pace)
	}
	for deadline := time.Now().Add(s.Budget); inFlight.Load() > 0; drive.PreciseSleep(pace) {
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w: %d wait %v after the end", ErrStuck, inFlight.Load(), s.Budget)
		}
	}
	elapsed, spent := time.Since(start)-s.Warm, m.Read().Sub(cost)
	if err := l.verdict(); err != nil {
		return nil, err
	}
	_, failed := l.sums()
	latency := l.latency.Counts()
	return figures(latency.Total(), elapsed, latency, spent, failed), nil
}

// Workers turns calls that wait into begin of [Open]: so many goroutines that
// make them. They end with the process, which measures one thing.
func Workers(n int, caller func() (call func() error, err error)) (begin func(done func(error)), err error) {
	work := make(chan func(error), n)
	for range n {
		call, err := caller()
		if err != nil {
			return nil, err
		}
		go func() {
			for done := range work {
				done(call())
			}
		}()
	}
	return func(done func(error)) { work <- done }, nil
}
