package conn

import "sync/atomic"

// line is the list of nodes on their way to the writer: a stack that many push
// onto with one compare-and-swap and that one takes whole.
//
//	nil ◀──take── nodes ◀──push── nil        the writer is awake
//	 │                              ▲
//	 └──sleep──▶ asleep ──push, poke┘        who replaces asleep wakes the writer
//
// I1: exactly one wake-up follows each sleep, since only one CAS can replace
// asleep.
type line struct {
	head atomic.Pointer[node]
	_    [56]byte // what follows is read by the writer alone
	wake chan struct{}
}

// asleep in place of the newest node says that the writer waits, or is about to.
var asleep = new(node)

func newLine() *line { return &line{wake: make(chan struct{}, 1)} }

// push hands n to the writer. Nodes pushed by one goroutine keep their order.
func (l *line) push(n *node) {
	for {
		head := l.head.Load()
		n.next = head
		if head == asleep {
			n.next = nil
		}
		if l.head.CompareAndSwap(head, n) {
			if head == asleep {
				l.wake <- struct{}{}
			}
			return
		}
	}
}

// poke wakes the writer for work that is not in the line.
func (l *line) poke() {
	if l.head.Load() == asleep && l.head.CompareAndSwap(asleep, nil) {
		l.wake <- struct{}{}
	}
}

// take gives everything that was pushed, oldest first. Only the writer calls
// it, and only awake.
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

// sleep announces that the writer is about to wait; false says that there is
// something to take. After true the writer looks for other work once more and
// then either waits for wake or calls awake.
func (l *line) sleep() bool { return l.head.CompareAndSwap(nil, asleep) }

// awake takes sleep back. It consumes the wake-up if one is on its way.
func (l *line) awake() {
	if !l.head.CompareAndSwap(asleep, nil) {
		<-l.wake
	}
}
