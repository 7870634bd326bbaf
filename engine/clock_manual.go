package engine

import (
	"container/heap"
	"sync"
	"time"
)

// ManualClock is a clock that stands still until it is told to advance, for
// tests: a 60-s timeout passes in microseconds. It begins at zero and is safe for
// concurrent use.
type ManualClock struct {
	mu     sync.Mutex
	now    time.Duration
	serial uint64
	timers manualTimers
}

// NewManualClock returns a clock at zero.
func NewManualClock() *ManualClock { return new(ManualClock) }

// Now is how far the clock was advanced.
func (m *ManualClock) Now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock by d and runs, on the caller's goroutine, what becomes
// due on the way: in the order of the due times, each at its own time, including
// what those functions set again. It panics when d is negative: time does not run
// back.
func (m *ManualClock) Advance(d time.Duration) {
	if d < 0 {
		panic("engine: ManualClock.Advance of " + d.String())
	}
	m.mu.Lock()
	until := m.now + d
	for len(m.timers) > 0 && m.timers[0].at <= until {
		t := heap.Pop(&m.timers).(*manualTimer)
		m.now = max(m.now, t.at)
		m.mu.Unlock()
		t.f()
		m.mu.Lock()
	}
	m.now = max(m.now, until)
	m.mu.Unlock()
}

// Timers is the number of pending timers.
func (m *ManualClock) Timers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.timers)
}

// AfterFunc makes f run in the Advance that reaches d from now. A d that is zero
// or negative is due in the next Advance, of zero too.
func (m *ManualClock) AfterFunc(d time.Duration, f func()) Timer {
	t := &manualTimer{clock: m, f: f, place: notPending}
	t.Reset(d)
	return t
}

type manualTimer struct {
	clock *ManualClock
	f     func()

	// The clock's mutex protects the fields below.
	at     time.Duration
	serial uint64 // breaks ties: first set, first run
	place  int    // in the heap, or notPending
}

const notPending = -1

func (t *manualTimer) Reset(d time.Duration) bool {
	m := t.clock
	m.mu.Lock()
	defer m.mu.Unlock()
	pending := t.place != notPending
	m.serial++
	t.at, t.serial = m.now+max(d, 0), m.serial
	if pending {
		heap.Fix(&m.timers, t.place)
	} else {
		heap.Push(&m.timers, t)
	}
	return pending
}

func (t *manualTimer) Stop() bool {
	m := t.clock
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.place == notPending {
		return false
	}
	heap.Remove(&m.timers, t.place)
	return true
}

// manualTimers is a heap by due time.
type manualTimers []*manualTimer

func (h manualTimers) Len() int { return len(h) }

func (h manualTimers) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].serial < h[j].serial
}

func (h manualTimers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push is called by container/heap only.
func (h *manualTimers) Push(x any) {
	t := x.(*manualTimer)
	t.place = len(*h)
	*h = append(*h, t)
}

// Pop is called by container/heap only.
func (h *manualTimers) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.place = notPending
	return t
}
