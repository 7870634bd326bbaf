package conn

import (
	"runtime"
	"sync/atomic"
)

// line is the list of nodes on their way to the writer: a stack that many push
// onto with one compare-and-swap and that one takes whole.
//
// The writer sleeps when it is empty. It says so in sleeping first and then looks
// at head; who pushes looks at sleeping after the push. So one of them sees the
// other, and whoever takes sleeping back sees to the wake-up.
//
// I1: exactly one wake-up follows each sleep that is not taken back, since only
// one CAS can end it.
//
// # The cork
//
// An answer wakes a caller, which makes its next call: so a burst of answers is
// followed by a burst of requests, and those should go out together. While the
// reader hands out a burst the line is corked: the calls of waiting goroutines
// do not wake the writer. The reader does, every few answers and at the end of
// the burst. Nobody loses by it: a call that the reader keeps from being written
// could not be answered before the reader went on either. Everything else that is
// queued wakes the writer at once.
type line struct {
	head     atomic.Pointer[node] // the newest
	sleeping atomic.Bool
	corked   atomic.Bool
	// crowd says that the last write held the frames of several goroutines, so
	// that the next is worth a moment's wait.
	crowd atomic.Bool
	_     [44]byte
	wake  chan struct{}

	openBatch
}

func newLine() *line { return &line{wake: make(chan struct{}, 1)} }

// push hands n to the writer. Nodes pushed by one goroutine keep their order.
func (l *line) push(n *node) {
	l.add(n)
	l.poke()
}

// pushWaiting is push by a goroutine that goes on to wait for an answer.
func (l *line) pushWaiting(n *node) {
	l.add(n)
	l.pokeWaiting()
}

// pokeWaiting is poke by a goroutine that goes on to wait for an answer.
func (l *line) pokeWaiting() {
	if l.corked.Load() || !l.sleeping.Load() || !l.sleeping.CompareAndSwap(true, false) {
		return
	}
	if l.crowd.Load() {
		// Let others queue that are ready to. The writer cannot do that as well: it
		// wakes on a processor of its own, which has nobody else to run.
		runtime.Gosched()
	}
	l.wake <- struct{}{}
}

func (l *line) add(n *node) {
	for {
		n.next = l.head.Load()
		if l.head.CompareAndSwap(n.next, n) {
			return
		}
	}
}

// poke wakes the writer if it sleeps.
func (l *line) poke() {
	if l.sleeping.Load() && l.sleeping.CompareAndSwap(true, false) {
		l.wake <- struct{}{}
	}
}

// cork makes the calls that follow wait for uncork or nudge. Only the reader
// calls these three.
func (l *line) cork() { l.corked.Store(true) }

// uncork ends it.
func (l *line) uncork() {
	l.corked.Store(false)
	l.nudge()
}

// nudge wakes the writer if there is something for it to do.
func (l *line) nudge() {
	if !l.empty() {
		l.poke()
	}
}

// take gives everything that was pushed, oldest first. Only the writer calls
// it.
func (l *line) take() *node {
	if l.head.Load() == nil {
		return nil
	}
	newest := l.head.Swap(nil)
	var oldest *node
	for newest != nil {
		next := newest.next
		newest.next = oldest
		oldest, newest = newest, next
	}
	return oldest
}

// sleep announces that the writer is about to wait. After it the writer looks
// whether there is work once more, and then waits for wake or calls awake.
func (l *line) sleep() { l.sleeping.Store(true) }

// awake takes sleep back. It consumes the wake-up if one is on its way.
func (l *line) awake() {
	if !l.sleeping.CompareAndSwap(true, false) {
		<-l.wake
	}
}

func (l *line) empty() bool { return l.head.Load() == nil && !l.joined.Load() }
