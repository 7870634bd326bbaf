package search

import (
	"math"
	"slices"
)

// The defaults of New's arguments.
const (
	DefaultStart  = 1000
	DefaultWithin = 0.05
)

// Max is the highest rate that is probed: no single process sends more.
const Max = 1e8

// Finder finds one rate. It belongs to one goroutine.
//
// I1: held and failed never meet: every rate in held is below failed.
type Finder struct {
	floor, within float64
	next          float64
	held          []float64 // rates that held, ascending
	failed        float64   // the lowest that did not; +Inf for none
	doubts        bool      // next has failed once
	confirming    bool      // next is the answer, probed again
	done          bool
}

// New returns a search that begins at start and gives up below floor, rates per
// second, and ends when the lowest rate that fails is at most within, a share,
// above the highest that holds. Zero and less stand for DefaultStart, a hundredth
// of a request a second, and DefaultWithin.
func New(start, floor, within float64) *Finder {
	if !(start > 0) {
		start = DefaultStart
	}
	if !(floor > 0) {
		floor = 0.01
	}
	if !(within > 0) {
		within = DefaultWithin
	}
	return &Finder{floor: min(floor, start), within: within, next: min(start, Max), failed: math.Inf(1)}
}

// Next returns the rate to probe, and false when the search is over.
func (f *Finder) Next() (rate float64, more bool) { return f.next, !f.done }

// Confirming reports whether the next probe is of the answer, once more.
func (f *Finder) Confirming() bool { return f.confirming && !f.done }

// Repeating reports whether the next probe is of a rate that failed a moment ago.
func (f *Finder) Repeating() bool { return f.doubts && !f.done }

// Record takes what came of the probe of Next's rate.
func (f *Finder) Record(holds bool) {
	switch {
	case f.done:
		return
	case !holds && !f.doubts:
		f.doubts = true
		return
	case holds && f.confirming:
		f.done = true
		return
	case holds:
		f.held = append(f.held, f.next)
		slices.Sort(f.held)
	default:
		f.failed = f.next
		f.held = slices.DeleteFunc(f.held, func(rate float64) bool { return rate >= f.failed })
	}
	f.doubts, f.confirming = false, false
	f.choose()
}

// choose sets the next rate.
func (f *Finder) choose() {
	switch {
	case len(f.held) == 0:
		next := rounded(f.failed / 2)
		if f.failed <= f.floor {
			f.done = true
			return
		}
		f.next = max(next, f.floor)
	case math.IsInf(f.failed, 1):
		if f.top() >= Max {
			f.confirming = true
			return
		}
		f.next = min(rounded(f.top()*2), Max)
	default:
		// The middle of what is left, by ratio; both ends are excluded, so rounding
		// cannot make it go round in circles.
		next := rounded(math.Sqrt(f.top() * f.failed))
		if f.failed <= f.top()*(1+f.within) || next <= f.top() || next >= f.failed {
			f.next, f.confirming = f.top(), true
			return
		}
		f.next = next
	}
}

func (f *Finder) top() float64 { return f.held[len(f.held)-1] }

// Answer is the highest rate that held so far, and false if none did.
func (f *Finder) Answer() (rate float64, found bool) {
	if len(f.held) == 0 {
		return 0, false
	}
	return f.top(), true
}

// Failed is the lowest rate that did not hold so far, and false if none failed.
func (f *Finder) Failed() (rate float64, some bool) {
	return f.failed, !math.IsInf(f.failed, 1)
}

// rounded keeps three significant digits: what is finer is no more exact.
func rounded(rate float64) float64 {
	scale := math.Pow(10, math.Floor(math.Log10(rate))-2)
	return math.Round(rate/scale) * scale
}
