package engine

import "errors"

var errFailed = errors.New("engine: failed without an error")

// FailAll ends every pending call with err, in no particular order, and returns
// how many. With close the table is closed for good: the first error it was closed
// with stays the stored failure, which later calls are born failed with. Without,
// it stays open, and calls that callbacks register meanwhile are not failed: all
// are claimed before the first is told.
//
// A nil err stands for ErrClosed with close, else for an error without content.
func (e *Engine[T]) FailAll(err error, close bool) int {
	end := ending{err: err, status: Failed, closed: close}
	switch {
	case close:
		if err == nil {
			err = ErrClosed
		}
		e.failure.CompareAndSwap(nil, &failure{err})
		end.err = e.failure.Load().err
		e.room.shut()
	case err == nil:
		end.err = errFailed
	}
	claimed := e.claimAll()
	for _, c := range claimed {
		e.finish(e.table.slot(c.ref.index()), c.ref, c.word, end)
	}
	if close {
		e.driver.stop()
	}
	return len(claimed)
}

// Close is FailAll(ErrClosed, true). It never fails, and a second Close does
// nothing.
func (e *Engine[T]) Close() error {
	e.FailAll(ErrClosed, true)
	return nil
}

type claimed struct {
	ref  ref
	word word // as the claim found it
}

// claimAll claims every live call. One that begins meanwhile may escape; if the
// table was closed before, it then sees that itself.
func (e *Engine[T]) claimAll() (all []claimed) {
	for i := range min(e.free.fresh.Load(), uint32(e.table.slots())) {
		s := e.table.slot(i)
		for w := s.load(); w.live(); w = s.load() {
			if found, won := s.claim(w.gen()); won {
				s.unanswered.Store(w.gen())
				all = append(all, claimed{makeRef(w.gen(), i), found})
				break
			}
		}
	}
	return all
}
