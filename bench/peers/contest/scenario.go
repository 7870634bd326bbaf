package contest

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/server"
)

// The contenders of the expiry rows that make no calls: report has what they are.
const (
	TimerClient = report.TimerFloor
	WakeClient  = report.WakeFloor
)

// expiryTimeout is that of calls that nobody answers.
const expiryTimeout = 100 * time.Millisecond

// stuckCalls is how many calls stay unanswered while others go on, stuckTimeout
// long enough for them to outlast any run.
const (
	stuckCalls   = 4
	stuckTimeout = time.Hour
)

// openInFlight bounds the calls that are out in an open loop. It is the number of
// callers at which the peak was measured.
const openInFlight = 1024

// open makes calls on schedule. A client without an API for it gets a goroutine
// for each that is out.
func (c *Cell) open(client peer.Client, meter load.Meter) (f load.Figures, err error) {
	w := c.work()
	s := load.Schedule{Rate: c.Rate, Warm: c.Warm, Window: c.Window, InFlight: openInFlight, Budget: c.Budget}
	if client.Begin != nil {
		return load.Open(s, meter, client.Begin(w))
	}
	begin, err := load.Workers(openInFlight, func() (func() error, error) { return client.Caller(w) })
	if err != nil {
		return nil, err
	}
	return load.Open(s, meter, begin)
}

// stuck measures the heap with calls going on, and then again after some of them
// were left without an answer all the while.
func (c *Cell) stuck(client peer.Client, meter load.Meter) (load.Figures, error) {
	w := c.work()
	caller := func() (func() error, error) { return client.Caller(w) }
	before := c.plan()
	before.Window = c.Window / 4
	plain, err := load.Closed(c.Callers, before, meter, caller)
	if err != nil {
		return nil, err
	}
	heap := heapBytes()
	unanswered := w
	unanswered.Name, unanswered.Timeout = server.Stuck, stuckTimeout
	ended := make(chan error, stuckCalls)
	for range stuckCalls {
		call, err := client.Caller(unanswered)
		if err != nil {
			return nil, err
		}
		go func() { ended <- call() }()
	}
	f, err := load.Closed(c.Callers, c.plan(), meter, caller)
	if err != nil {
		return nil, err
	}
	after := heapBytes()
	select {
	case err := <-ended:
		return nil, fmt.Errorf("a call that should wait ended: %w", err)
	default:
	}
	f[report.HeapBefore], f[report.HeapAfter], f[report.Growth] = heap, after, after-heap
	f["calls/s before"] = plain[load.Rate]
	return f, nil
}

// heapBytes is what is reachable. Pools keep things for one more collection.
func heapBytes() float64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

var (
	errAnswered = errors.New("a call that nobody answers was answered")
	errEarly    = errors.New("a call expired early")
)

// expiry lets every call time out. Latencies are how late. A client with
// callbacks begins the next call in that of the last.
func (c *Cell) expiry(client peer.Client, meter load.Meter) (load.Figures, error) {
	w := c.work()
	w.Name, w.Timeout = server.Stuck, expiryTimeout
	if client.Begin != nil {
		return c.lateCallbacks(meter, client.Begin(w))
	}
	calls := make([]func() error, c.Callers)
	for i := range calls {
		call, err := client.Caller(w)
		if err != nil {
			return nil, err
		}
		calls[i] = call
	}
	return c.late(meter, func(lane int) error {
		if calls[lane]() == nil {
			return errAnswered
		}
		return nil
	})
}

// timers is expiry without a client: all that a caller waits for is a timer.
func (c *Cell) timers() (load.Figures, error) {
	fired := make([]chan struct{}, c.Callers)
	for i := range fired {
		fired[i] = make(chan struct{}, 1)
	}
	return c.late(load.Meter{}, func(lane int) error {
		time.AfterFunc(expiryTimeout, func() { fired[lane] <- struct{}{} })
		<-fired[lane]
		return nil
	})
}

// waking is expiry without a client and with one timer for all: when somebody is due,
// and no sooner than a tick after the last time, it wakes all who are.
func (c *Cell) waking() (load.Figures, error) {
	const tick = time.Millisecond // the engine's
	type waiter struct {
		due   atomic.Int64 // since start; 0 is nobody
		woken chan struct{}
	}
	waiters := make([]waiter, c.Callers)
	for i := range waiters {
		waiters[i].woken = make(chan struct{}, 1)
	}
	start := time.Now()
	var driver *time.Timer
	driver = time.AfterFunc(time.Hour, func() {
		now, next := int64(time.Since(start)), int64(math.MaxInt64)
		for i := range waiters {
			w := &waiters[i]
			switch due := w.due.Load(); {
			case due == 0:
			case due <= now:
				w.due.Store(0)
				w.woken <- struct{}{}
			default:
				next = min(next, due)
			}
		}
		if next == math.MaxInt64 { // all were woken, and are about to wait again
			next = now
		}
		driver.Reset(max(time.Duration(next-now), tick))
	})
	driver.Reset(tick)
	defer driver.Stop()
	return c.late(load.Meter{}, func(lane int) error {
		w := &waiters[lane]
		w.due.Store(int64(time.Since(start) + expiryTimeout))
		<-w.woken
		return nil
	})
}

// record counts how late a call ended that nobody answered, and reports whether
// its caller goes on.
func record(l *load.Loop, lane int, began time.Time, err error) bool {
	late := time.Since(began) - expiryTimeout
	if err == nil && late < 0 {
		err = errEarly
	}
	if err != nil {
		l.Failed(lane, err)
		return false
	}
	l.Took(lane, late)
	return !l.Stopped()
}

// late runs callers that each wait for a timeout again and again.
func (c *Cell) late(meter load.Meter, wait func(lane int) error) (load.Figures, error) {
	return load.Pumped(c.Callers, c.plan(), meter, func(l *load.Loop) error {
		var wg sync.WaitGroup
		for lane := range c.Callers {
			wg.Go(func() {
				for {
					began := time.Now()
					if !record(l, lane, began, wait(lane)) {
						return
					}
				}
			})
		}
		wg.Wait()
		return nil
	})
}

// lateCallbacks is late for calls that end in a callback.
func (c *Cell) lateCallbacks(meter load.Meter, begin func(done func(error))) (load.Figures, error) {
	return load.Pumped(c.Callers, c.plan(), meter, func(l *load.Loop) error {
		var wg sync.WaitGroup
		wg.Add(c.Callers)
		for lane := range c.Callers {
			var began time.Time
			var ended func(error)
			ended = func(err error) {
				if err == nil {
					err = errAnswered
				} else {
					err = nil
				}
				if !record(l, lane, began, err) {
					wg.Done()
					return
				}
				began = time.Now()
				begin(ended)
			}
			began = time.Now()
			begin(ended)
		}
		wg.Wait()
		return nil
	})
}
