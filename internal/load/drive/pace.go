package drive

import (
	"context"
	"time"
)

// coarse is what a timer may be late by. The runtime's timers wake an idle
// process up to a millisecond late, since its poller counts in milliseconds.
const coarse = 1500 * time.Microsecond

// pause waits until d has passed, ctx ends or wake is told. The last stretch of
// a wait, if Sleep is set, ends only with the time.
func (s *state) pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	if d <= 0 {
		return
	}
	if s.Sleep != nil {
		if d <= coarse {
			s.Sleep(d)
			return
		}
		d -= coarse
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}
