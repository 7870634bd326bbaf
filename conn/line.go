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
// I1: exactly one turn follows each sleep, since only one CAS can end it: the
// writer's own, that of who stands in for it, or a wake-up that hands it over.
//
// # The cork
//
// An answer wakes a caller, or calls back, and the next call is made: so a burst
// of answers is followed by a burst of requests, and those should go out together.
// While the reader hands out a burst the line is corked: calls do not wake the
// writer. The reader does, every few answers and at the end of the burst. Nobody
// loses by it: a call that the reader keeps from being written could not be
// answered before the reader went on either. What expires is held likewise, as hold
// tells. Everything else that is queued wakes the writer at once.
type line struct {
	head     atomic.Pointer[node] // the newest
	sleeping atomic.Bool
	corks    atomic.Uint32 // who corks it
	// crowd says that writes of late held the frames of several goroutines, so that
	// the next is worth a moment's wait.
	crowd atomic.Bool
	// closed counts the nodes that were pushed whole. A frame may join the open
	// batch only while none came since that was pushed.
	closed atomic.Uint32
	open   openBatch
	wake   chan struct{}
	// standIn, if there is one, is what may do the writer's work in the place of a
	// wake-up. False says that the wake-up is needed.
	standIn func() bool
}

func newLine() *line { return &line{wake: make(chan struct{}, 1)} }

// urgency says how soon the writer must hear of a frame.
type urgency uint8

const (
	atOnce  urgency = iota // wake it
	ofCall                 // a call: the cork holds it
	held                   // whoever sends it wakes the writer later
	waiting                // a call of a goroutine that goes on to wait: it can let others run
)

// push hands n to the writer. Nodes pushed by one goroutine keep their order.
func (l *line) push(n *node, u urgency) {
	l.add(n)
	l.closed.Add(1)
	l.tell(u)
}

func (l *line) add(n *node) {
	for {
		n.next = l.head.Load()
		if l.head.CompareAndSwap(n.next, n) {
			return
		}
	}
}

// tell wakes the writer if it sleeps and the frame is to go out now.
func (l *line) tell(u urgency) {
	if u == held || u != atOnce && l.corks.Load() != 0 || !l.sleeping.Load() || !l.rouse() {
		return
	}
	crowd := u == waiting && l.crowd.Load()
	if crowd {
		// Let others queue that are ready to. The writer cannot do that as well: it
		// wakes on a processor of its own, which has nobody else to run.
		runtime.Gosched()
	}
	if crowd || l.standIn == nil || !l.standIn() {
		l.wake <- struct{}{}
	}
}

// rouse ends the writer's sleep. Who gets true has the writer's turn, and must
// use it, pass it on by a wake-up, or give it back by sleep.
func (l *line) rouse() bool { return l.sleeping.CompareAndSwap(true, false) }

// poke wakes the writer if it sleeps.
func (l *line) poke() { l.tell(atOnce) }

// Those who cork the line, each for itself.
const (
	readerCork = 1 << iota
	driverCork // see hold
)

// cork makes the calls that follow wait for uncork or nudge.
func (l *line) cork(by uint32) { l.corks.Or(by) }

// uncork ends it. What waits is written even if another corks the line still.
func (l *line) uncork(by uint32) {
	l.corks.And(^by)
	l.nudge()
}

func (l *line) heldBy(who uint32) bool { return l.corks.Load()&who != 0 }

// nudge wakes the writer if there is something for it to do.
func (l *line) nudge() {
	if !l.empty() {
		l.poke()
	}
}

// take gives everything that was pushed, oldest first. Only the writer calls
// it.
func (l *line) take() *node {
	if l.empty() {
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

// sleep gives the turn up, of the writer or of who stands in for it. After it
// that one looks whether there is work once more, and then leaves it or rouses
// the writer again.
func (l *line) sleep() { l.sleeping.Store(true) }

// awake takes sleep back for the writer's goroutine. It consumes the wake-up if
// one is on its way, and outlasts who stands in, who does not wait for anything.
func (l *line) awake() {
	for !l.rouse() {
		select {
		case <-l.wake:
			return
		default:
			runtime.Gosched()
		}
	}
}

func (l *line) empty() bool { return l.head.Load() == nil }
