package engine

import (
	"time"
)

// consume takes the outcome of a settled call: w is its word, answered or ended,
// or held by the caller. One compare-and-swap gives the outcome to the caller and
// prepares the slot for the stack; Pending means that another took it.
func (e *Engine[T]) consume(s *slot[T], r ref, w word) (v T, status Status, err error) {
	tk := e.free.hold()
	head := tk.head.Load()
	if !s.swap(w, makeWord(0, r.gen(), free).withNext(topOf(head))) {
		e.free.release(tk)
		return v, Pending, nil
	}
	if w.state()&^parkedBit == answered {
		v, s.value = s.value, v
		status = Resolved
	} else {
		s.value = v // it may be the caller's memory
		status, err = e.takeError(s, r)
	}
	// As putBack has it, without a call.
	if r.gen() == e.free.genMax || !tk.head.CompareAndSwap(head, withTop(head, r.index()+1)) {
		e.putBack(tk, head, s, r)
		return v, status, err
	}
	e.free.release(tk)
	if e.room.waiting.Load() != 0 {
		e.handOut()
	}
	return v, status, err
}

// takeError makes the error of a call that the caller owns from how it ended.
func (e *Engine[T]) takeError(s *slot[T], r ref) (Status, error) {
	place := e.table.endingOf(r.index())
	end := *place
	*place = nil
	return end.status, e.errorOf(s, r, end)
}

// errorOf makes the error of a call that the caller owns.
func (e *Engine[T]) errorOf(s *slot[T], r ref, end *ending) error {
	if end.status == Rejected {
		return end.err
	}
	err := &CallError{
		ID:       e.idOf(r),
		Status:   end.status,
		Sent:     s.sent.Load() == r.gen(),
		Deadline: end.deadline,
		Elapsed:  end.elapsed(s.start),
		Err:      end.err,
		closed:   end.closed,
	}
	d := e.table.dir.Load().details.at(r.index())
	if d == nil {
		return err
	}
	err.Method = d.method
	switch end.deadline {
	case DeadlineIdle:
		err.Budget = e.ticks.nanoseconds(limits(d.limits.Load()).idle())
	case DeadlineTotal:
		err.Budget = time.Duration(d.budget)
	case DeadlineContext:
		err.Budget = time.Duration(-d.budget)
	}
	return err
}
