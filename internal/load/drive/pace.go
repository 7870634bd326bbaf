package drive

import (
	"context"
	"time"
)

// pause waits until d has passed, ctx ends, or wake or the Control is told. The runtime's timers
// wake an idle process up to a millisecond late, since its poller counts in
// whole ones; so if Sleep is set, a timer waits for the whole milliseconds and
// Sleep for the rest, which only the time ends. One goroutine of a run pauses.
func (s *state) pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	if d <= 0 {
		return
	}
	if s.Sleep != nil {
		if d < time.Millisecond {
			s.Sleep(d)
			return
		}
		d = d.Truncate(time.Millisecond)
	}
	select {
	case <-s.after(d):
	case <-wake:
	case <-s.steered():
	case <-ctx.Done():
	}
}

// after is time.After with the run's one timer: the channel is valid until the
// next call.
func (s *state) after(d time.Duration) <-chan time.Time {
	if s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}
	return s.timer.C
}
