package engine

import (
	"slices"

	"github.com/correlator-go/correlator/codec"
)

// Pending returns the ids of the pending calls, sorted: by type, then by value.
// It walks the table; calls that begin or end meanwhile may be in it or not, those
// that were pending all the time are.
func (e *Engine[T]) Pending() []codec.ID {
	var ids []codec.ID
	if e.index != nil {
		e.index.each(func(id codec.ID, r ref) bool {
			if w := e.table.slot(r.index()).load(); w.gen() == r.gen() && w.live() {
				ids = append(ids, id)
			}
			return true
		})
	} else {
		for i := range min(e.free.fresh.Load(), uint32(e.table.slots())) {
			if w := e.table.slot(i).load(); w.live() {
				ids = append(ids, makeRef(w.gen(), i).minted())
			}
		}
	}
	slices.SortFunc(ids, codec.ID.Compare)
	return ids
}

// Len is the number of pending calls. It walks the table: about a millisecond per
// 100,000 slots. It is never negative, and exact when nothing else runs.
func (e *Engine[T]) Len() int {
	n := 0
	for i := range min(e.free.fresh.Load(), uint32(e.table.slots())) {
		if e.table.slot(i).load().live() {
			n++
		}
	}
	return n
}
