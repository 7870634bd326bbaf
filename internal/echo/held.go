package echo

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
)

// reorderWait bounds how long Shape.Reorder waits for more answers to shuffle.
const reorderWait = time.Millisecond

// held is what a shaped server has not sent yet: the answers, by the time they
// are due, and a goroutine that writes them. The reader admits, the writer
// collects; mu stands between them.
type held struct {
	s       *server
	fates   *rand.Rand // the reader's
	shuffle *rand.Rand // the writer's
	seen    int64      // requests admitted; the reader's
	wake    chan struct{}
	done    chan struct{}

	mu    sync.Mutex // protects the fields below
	queue dueQueue
	next  uint64 // number of the next item
	ended bool
	gone  bool // the writer has returned
}

// item is one message that will be sent.
type item struct {
	due    time.Duration // since the connection began
	number uint64        // keeps the order of items due together
	frame  []byte
	kind   itemKind
	// Progress only.
	token []byte
	step  int64
	until time.Duration
}

type itemKind uint8

const (
	itemAnswer itemKind = iota
	itemDuplicate
	itemProgress
	itemControl
)

func newHeld(s *server, connection uint64) *held {
	h := &held{
		s: s, wake: make(chan struct{}, 1), done: make(chan struct{}),
		fates:   rand.New(rand.NewPCG(s.o.Seed, connection)),
		shuffle: rand.New(rand.NewPCG(^s.o.Seed, connection)),
	}
	go h.write()
	return h
}

// admit decides what befalls request m. It returns ErrDied for the one that
// ends the connection.
func (h *held) admit(m *codec.Message) error {
	s := h.s
	shape := &s.o.Shape
	if h.seen++; shape.DieAfter > 0 && h.seen >= shape.DieAfter {
		s.n.Unsent++
		return ErrDied
	}
	fate, delay := shape.draw(h.fates)
	switch fate {
	case blackholed:
		s.n.Blackholed++
		return nil
	case late:
		s.n.Late++
	case duplicated:
		s.n.Duplicates++
	}
	frame, err := s.appendAnswer(nil, m)
	if err != nil {
		return err
	}
	now := time.Since(s.start)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.push(item{due: now + delay, frame: frame, kind: itemAnswer})
	if fate == duplicated {
		h.push(item{due: now + delay, frame: frame, kind: itemDuplicate})
	}
	if token := m.Token(); len(token) > 0 && shape.ProgressEvery > 0 && delay > shape.ProgressEvery {
		h.push(item{due: now + shape.ProgressEvery, kind: itemProgress, token: append([]byte(nil), token...), until: now + delay})
	}
	h.kick()
	return nil
}

// control queues a framed message that is not counted. It copies frame.
func (h *held) control(frame []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.push(item{due: time.Since(h.s.start), frame: append([]byte(nil), frame...), kind: itemControl})
	h.kick()
}

// push needs h.mu.
func (h *held) push(i item) {
	answer := i.kind == itemAnswer || i.kind == itemDuplicate
	if h.gone {
		if answer {
			h.s.o.Counters.unsent.Add(1)
		}
		return
	}
	i.number = h.next
	h.next++
	heap.Push(&h.queue, i)
	if answer {
		h.s.o.Counters.held.Add(1)
	}
}

func (h *held) kick() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// end sends what is due, drops the rest and returns when nothing is written any
// more.
func (h *held) end() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.kick()
	<-h.done
}

// dueQueue is a heap of items by time, then by number.
type dueQueue []item

func (q dueQueue) Len() int { return len(q) }
func (q dueQueue) Less(i, j int) bool {
	if q[i].due != q[j].due {
		return q[i].due < q[j].due
	}
	return q[i].number < q[j].number
}
func (q dueQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *dueQueue) Push(x any)   { *q = append(*q, x.(item)) }
func (q *dueQueue) Pop() any {
	last := len(*q) - 1
	i := (*q)[last]
	(*q)[last] = item{}
	*q = (*q)[:last]
	return i
}
