package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/engine"
)

// timersRole times the runtime's own timers, with so many armed meanwhile, and the
// clock.
func timersRole(args []string) (claim.Values, error) {
	armed, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, err
	}
	none := func() {}
	for range armed {
		time.AfterFunc(timeout, none)
	}
	const each = 150 * time.Millisecond
	start := time.Now()
	var sum time.Duration
	loop := func(op func()) float64 {
		return timed(1, each, func(_ int, stop *atomic.Bool) (ops int) {
			for ; !stop.Load(); ops += burst {
				for range burst {
					op()
				}
			}
			return ops
		})
	}
	v := claim.Values{
		"clock":     loop(func() { sum += time.Since(start) }),
		"AfterFunc": loop(func() { time.AfterFunc(timeout, none).Stop() }),
		"WithTimeout": loop(func() {
			_, cancel := context.WithTimeout(background, timeout)
			cancel()
		}),
	}
	runtime.KeepAlive(sum)
	return v, nil
}

// deadlineRole times a call with its deadlines and one without, with so many armed
// meanwhile.
func deadlineRole(args []string) (claim.Values, error) {
	armed, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, err
	}
	const each = 150 * time.Millisecond
	t := newWaited(armed+1000, full())
	newBed[call](t).fill(armed, false)
	without := &waited{engine: t.engine}
	without.call = undated()
	v := claim.Values{}
	with, plain := newBed[call](t), newBed[call](without)
	for range 3 { // in turn: what is compared is a difference
		v["with"] += with.window(1000, 1, each) / 3
		v["without"] += plain.window(1000, 1, each) / 3
	}
	return v, nil
}

// stormRole makes a million deadlines fall due at one moment and measures how long
// after it the last one fired.
func stormRole(args []string) (claim.Values, error) {
	const n, lead = 1_000_000, 4 * time.Second
	var (
		fired atomic.Int64
		early atomic.Int64
		last  time.Duration
		done  = make(chan struct{})
	)
	start := time.Now()
	fire := func() {
		now := time.Since(start)
		if now < lead {
			early.Add(1)
		}
		if fired.Add(1) == n {
			last = now
			close(done)
		}
	}
	switch args[0] {
	case engineName:
		e := must(engine.New(options(n)))
		o := full()
		o.Notify = func(engine.Outcome[[]byte]) { fire() }
		for range n {
			o.Timeout = lead - time.Since(start)
			must(e.Begin(background, o))
		}
		defer runtime.KeepAlive(e)
	case afterFuncName:
		for range n {
			time.AfterFunc(lead-time.Since(start), fire)
		}
	default:
		return nil, fmt.Errorf("no timers %q", args[0])
	}
	if time.Since(start) >= lead {
		return nil, fmt.Errorf("this machine is too slow to arm %d in %v", n, lead)
	}
	<-done
	return claim.Values{"ns": float64(last - lead), "early": float64(early.Load())}, nil
}

// latenessRole lets many deadlines pass in the engine and in the runtime's timers,
// side by side, and measures how late each fires.
func latenessRole([]string) (claim.Values, error) {
	const n = 4000
	e := must(engine.New(options(n)))
	var wg sync.WaitGroup
	wg.Add(2 * n)
	ours, theirs := make([]float64, n), make([]float64, n)
	for i := range n {
		d := time.Duration(20+i*400/n)*time.Millisecond + time.Duration(i%1000)*time.Microsecond
		o := full()
		o.Timeout = d
		start := time.Now()
		o.Notify = func(engine.Outcome[[]byte]) {
			ours[i] = float64(time.Since(start) - d)
			wg.Done()
		}
		must(e.Begin(background, o))
		begun := time.Now()
		time.AfterFunc(d, func() {
			theirs[i] = float64(time.Since(begun) - d)
			wg.Done()
		})
	}
	wg.Wait()
	slices.Sort(ours)
	slices.Sort(theirs)
	early, _ := slices.BinarySearch(ours, 0)
	return claim.Values{
		"early": float64(early), "p50": ours[n/2], "p99": ours[n-n/100], "max": ours[n-1],
		"AfterFunc p50": theirs[n/2], "AfterFunc p99": theirs[n-n/100], "AfterFunc max": theirs[n-1],
	}, nil
}

// wakeRole counts the driver's runs under timeouts of 50 ms and 30 s in turn.
func wakeRole([]string) (claim.Values, error) {
	t := newAlternating(1000)
	b := newBed[call](t)
	b.fill(1000, true)
	before, began := t.engine.Stats().WheelRuns, time.Now()
	b.window(1000, 1, time.Second)
	ticks := float64(time.Since(began)) / float64(engine.DefaultTick)
	return claim.Values{"runs": float64(t.engine.Stats().WheelRuns-before) / ticks}, nil
}
