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
	// InFlight bounds the calls that wait at once: above it the client does not
	// hold the rate, which is an error.
	InFlight int64
	Budget   time.Duration
}

// pace is how long the generator sleeps between two looks at the clock. What fell
// due meanwhile is begun at once, and is late by that much for every client.
const pace = 100 * time.Microsecond

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
		now := time.Since(start)
		for due := int64(float64(now) / interval); n <= due && n < last; n++ {
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
		if inFlight.Load() > s.InFlight {
			return nil, fmt.Errorf("does not hold %.0f calls/s: %d wait", s.Rate, inFlight.Load())
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
