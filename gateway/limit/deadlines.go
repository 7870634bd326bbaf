package limit

import (
	"container/heap"
	"time"
)

// deadlines are the tickets that wait, the first to be over first.
type deadlines struct{ heap ticketHeap }

type ticketHeap []*Ticket

func (h ticketHeap) Len() int           { return len(h) }
func (h ticketHeap) Less(i, j int) bool { return h[i].until < h[j].until }
func (h ticketHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *ticketHeap) Push(x any) {
	t := x.(*Ticket)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *ticketHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}

func (d *deadlines) len() int { return len(d.heap) }

func (d *deadlines) add(t *Ticket) { heap.Push(&d.heap, t) }

func (d *deadlines) remove(t *Ticket) {
	heap.Remove(&d.heap, t.index)
	if len(d.heap) == 0 {
		d.heap = nil // a queue is short again sooner or later
	}
}

// next is when the first one is over, if one is at all.
func (d *deadlines) next() (time.Duration, bool) {
	if len(d.heap) == 0 || d.heap[0].until == never {
		return 0, false
	}
	return d.heap[0].until, true
}

// due is the first one if it is over.
func (d *deadlines) due(now time.Duration) *Ticket {
	if next, ok := d.next(); ok && next <= now {
		return d.heap[0]
	}
	return nil
}
