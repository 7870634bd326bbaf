package load

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrStuck says that calls did not end within the budget: a deadlock, or a
// client too slow to measure here.
var ErrStuck = errors.New("calls do not end")

// Plan is the time of a measurement.
type Plan struct {
	// Warm is how long calls run before they are measured, Window how long they
	// are measured. Both last longer until as many calls have ended as there are
	// callers, but not above Most each.
	Warm, Window, Most time.Duration
	// Budget is how long callers may take to end after the window.
	Budget time.Duration
}

const (
	// errorsMax is the share of calls that may fail before the measurement has.
	errorsMax = 0.001
	// errorsFew may fail before the share is looked at while calls go on.
	errorsFew = 100
)

// Loop is what callers share. Those who keep calls in flight without a goroutine
// each use it themselves: see [Pumped].
type Loop struct {
	stop    atomic.Bool
	latency Histogram
	done    [shards]struct {
		calls, errors atomic.Int64
		_             [112]byte
	}
	first atomic.Pointer[error]
}

// Stopped reports whether no further call is to be made.
func (l *Loop) Stopped() bool { return l.stop.Load() }

// Done counts n calls that ended well, without their latency.
func (l *Loop) Done(lane int, n int64) { l.done[lane&(shards-1)].calls.Add(n) }

// Took counts a call that ended well, and its latency.
func (l *Loop) Took(lane int, d time.Duration) {
	l.latency.Record(lane, d)
	l.Done(lane, 1)
}

// Failed counts a call that did not.
func (l *Loop) Failed(lane int, err error) {
	l.done[lane&(shards-1)].errors.Add(1)
	why := err // escapes only here
	l.first.CompareAndSwap(nil, &why)
}

func (l *Loop) sums() (calls, errors int64) {
	for i := range l.done {
		calls += l.done[i].calls.Load()
		errors += l.done[i].errors.Load()
	}
	return calls, errors
}

// Closed measures so many callers; caller makes each its call.
func Closed(callers int, p Plan, m Meter, caller func() (call func() error, err error)) (Figures, error) {
	calls := make([]func() error, callers)
	for i := range calls {
		call, err := caller()
		if err != nil {
			return nil, err
		}
		calls[i] = call
	}
	return Pumped(callers, p, m, func(l *Loop) error {
		var wg sync.WaitGroup
		for lane, call := range calls {
			wg.Go(func() {
				began := time.Now()
				for !l.Stopped() {
					if err := call(); err != nil {
						l.Failed(lane, err)
						if errors.Is(err, ErrEnd) {
							return
						}
						began = time.Now()
						continue
					}
					now := time.Now() // the end of one call is the beginning of the next
					l.Took(lane, now.Sub(began))
					began = now
				}
			})
		}
		wg.Wait()
		return nil
	})
}

// ErrEnd ends the caller whose call returned it.
var ErrEnd = errors.New("no more calls")

// Pumped measures pump, which keeps inFlight calls going until the loop is
// stopped, and returns when all have ended.
func Pumped(inFlight int, p Plan, m Meter, pump func(*Loop) error) (Figures, error) {
	l := new(Loop)
	ended := make(chan error, 1)
	go func() { ended <- pump(l) }()
	if err := l.run(p.Warm, p.Most, 0, int64(inFlight), ended); err != nil {
		return nil, err
	}
	before := l.read(m)
	if err := l.run(p.Window, p.Most, before.calls, int64(inFlight), ended); err != nil {
		return nil, err
	}
	after := l.read(m)
	l.stop.Store(true)
	budget := time.NewTimer(p.Budget)
	defer budget.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return nil, err
		}
	case <-budget.C:
		return nil, fmt.Errorf("%w within %v of the end", ErrStuck, p.Budget)
	}
	if err := l.verdict(); err != nil {
		return nil, err
	}
	return figures(after.calls-before.calls, after.at.Sub(before.at), after.latency.Sub(before.latency), after.cost.Sub(before.cost), after.failed-before.failed), nil
}

// reading is the state of a loop at one end of a window. What is read while calls
// go on is not of one instant, but in the same order at both ends.
type reading struct {
	at            time.Time
	calls, failed int64
	cost          Cost
	latency       Counts
}

func (l *Loop) read(m Meter) (r reading) {
	r.cost = m.Read()
	r.at = time.Now()
	r.calls, r.failed = l.sums()
	r.latency = l.latency.Counts()
	return r
}

// run lets d pass, and then waits until turns calls have ended since there were
// before, at most for most in all.
func (l *Loop) run(d, most time.Duration, before, turns int64, ended <-chan error) error {
	deadline := time.Now().Add(max(d, most))
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case err := <-ended:
			if err == nil {
				err = l.verdict()
			}
			if err == nil {
				err = errors.New("callers ended by themselves")
			}
			return err
		case <-timer.C:
		}
		calls, failed := l.sums()
		switch {
		case failed > errorsFew && l.verdict() != nil:
			return l.verdict()
		case calls-before >= turns:
			return nil
		case time.Now().Before(deadline):
			timer.Reset(10 * time.Millisecond)
		case calls == before && failed > 0:
			return l.verdict()
		case calls == before:
			return fmt.Errorf("%w: none in %v", ErrStuck, max(d, most))
		default:
			return nil
		}
	}
}

// verdict is an error if more calls failed than may.
func (l *Loop) verdict() error {
	calls, failed := l.sums()
	if failed == 0 || float64(failed) <= errorsMax*float64(calls) {
		return nil
	}
	return fmt.Errorf("%d of %d calls failed, the first: %w", failed, failed+calls, *l.first.Load())
}
