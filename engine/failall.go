package engine

import "errors"

var errFailed = errors.New("engine: failed without an error")

// FailAll ends every pending call with err, in no particular order, and returns
// how many. With close the table is closed for good: the first error it was closed
// with stays the stored failure, which later calls are born failed with. Without,
// it stays open, and calls that callbacks register meanwhile are not failed: all
// are claimed before the first has ended, and all but those with callbacks have
// ended before the first is told of.
//
// A nil err stands for ErrClosed with close, else for an error without content.
func (e *Engine[T]) FailAll(err error, close bool) int {
	end := &ending{err: err, at: e.now(), status: Failed, closed: close}
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
	quiet, others := e.claimAll(end)
	n := quiet + len(others)
	e.countMany(countFailed, n)
	if close {
		e.driver.stop()
	}
	told, callbacks := e.concludeAll(others, end)
	e.tellAll(told, callbacks, end)
	return n
}

// concludeAll makes the outcomes of claimed calls visible, and returns what is to be
// told to the observer, and the calls with callbacks. Nobody has been told of
// anything before it is done: so who is told of one call finds no other still on its
// way, and may wait for it.
func (e *Engine[T]) concludeAll(others []claimed, end *ending) (told []Settlement, callbacks []claimed) {
	callbacks = others[:0]
	for _, c := range others {
		if c.found() == callback {
			callbacks = append(callbacks, c)
			continue
		}
		var t Settlement
		e.conclude(e.table.slot(c.ref().index()), c.ref(), c.found(), end, &t)
		if e.observer != nil {
			told = append(told, t)
		}
	}
	return told, callbacks
}

// tellAll runs hooks and callbacks. When one of them ends its goroutine another one
// goes on: this one has frames to leave, as many as there were that did the same.
func (e *Engine[T]) tellAll(told []Settlement, callbacks []claimed, end *ending) {
	defer func() {
		if len(told)+len(callbacks) > 0 {
			go e.tellAll(told, callbacks, end)
		}
	}()
	for len(told) > 0 {
		t := &told[0]
		told = told[1:]
		e.observe(t)
	}
	for len(callbacks) > 0 {
		r := callbacks[0].ref()
		callbacks = callbacks[1:]
		e.finishCallback(e.table.slot(r.index()), r, end)
	}
}

// Close is FailAll(ErrClosed, true). It never fails, and a second Close does
// nothing.
func (e *Engine[T]) Close() error {
	e.FailAll(ErrClosed, true)
	return nil
}

// claimed is a call that was claimed, and the state that the claim found.
type claimed uint64

const (
	claimedShift = 64 - stateBits
	claimedRefs  = 1<<claimedShift - 1
)

func makeClaimed(r ref, found state) claimed { return claimed(found)<<claimedShift | claimed(r) }

func (c claimed) ref() ref     { return ref(c & claimedRefs) }
func (c claimed) found() state { return state(c >> claimedShift) }

// claimAll claims every live call, and ends those of whose end nobody is told. One
// that begins meanwhile may escape; if the table was closed before, it then sees
// that itself.
func (e *Engine[T]) claimAll(end *ending) (quiet int, others []claimed) {
	told := e.index != nil || e.observer != nil
	fresh := e.free.fresh.Load()
	for chunk, slots := range e.table.dir.Load().slots {
		first := uint32(chunk) << chunkBits
		if first >= fresh {
			break
		}
		for k := range slots {
			s, i := &slots[k], first+uint32(k)
			w, won := s.claimLive()
			if !won {
				continue
			}
			s.unanswered.Store(w.gen())
			r := makeRef(w.gen(), i)
			if told || w.state() != pending {
				others = append(others, makeClaimed(r, w.state()))
				continue
			}
			quiet++
			*e.table.endingOf(i) = end
			e.publish(s, r, ended)
		}
	}
	return quiet, others
}
