package engine

import (
	"context"

	"github.com/correlator-go/correlator/codec"
)

// NextID gives an id that no call has had, or with CallerIDs none that is pending. An engine that mints its ids reserves
// a slot for it, which counts against MaxPending; without room the id is absent.
// A reserved id that nobody registers is reclaimed when the table is full, see the
// package text. With CallerIDs the ids are 1, 2, 3 and so on, to Options.CountMax
// and from 1 again, without those whose calls are pending. It goes on when the
// engine is closed.
func (e *Engine[T]) NextID() codec.ID {
	if e.index != nil {
		return e.nextNumber()
	}
	s, i := e.take()
	if s == nil {
		var err error
		if s, i, err = e.takeFull(nil, &CallOptions[T]{NoWait: true}); err != nil {
			return codec.ID{}
		}
	}
	r := makeRef(s.load().gen()+1, i)
	s.store(makeWord(noTick, r.gen(), reserved))
	return r.minted()
}

// nextNumber is the next number that names no call in flight: one that comes again
// may, and so may one that the caller took of its own accord. CountMax is above
// MaxPending, so there is one.
func (e *Engine[T]) nextNumber() codec.ID {
	for {
		id := codec.IntID(int64((e.counted.Add(1)-1)%e.countMax) + 1)
		if r, ok := e.locate(id); !ok || !e.inFlight(r) {
			return id
		}
	}
}

// Register registers a call under the given id: any id but the absent one with
// CallerIDs, and otherwise one that NextID gave. See [Engine.Begin] for ctx, for
// what a closed engine does and for further errors. It returns ErrAbsentID first
// of all, also when closed; ErrDuplicateID when a call with this id is pending,
// which is untouched; and ErrUnknownID for an id that NextID did not give, or that
// was registered and settled before, when ids are minted.
func (e *Engine[T]) Register(ctx context.Context, id codec.ID, o CallOptions[T]) (Call[T], error) {
	if id.IsAbsent() {
		return Call[T]{}, ErrAbsentID
	}
	if err := e.refuse(&o); err != nil {
		return Call[T]{}, err
	}
	if e.failure.Load() != nil {
		e.forgo(id)
		return e.stillborn(id, &o), nil
	}
	if e.index == nil {
		return e.registerReserved(ctx, id, o)
	}
	s, i := e.take()
	if s == nil {
		var err error
		if s, i, err = e.takeFull(ctx, &o); err != nil {
			if e.failure.Load() != nil {
				return e.stillborn(id, &o), nil
			}
			return Call[T]{}, err
		}
	}
	// The index decides whose the id is. Until the call is published, its word is of
	// the generation before, so an answer does not find it and FailAll passes it by;
	// the latter is made up for by the look at failure in begin.
	r := makeRef(s.load().gen()+1, i)
	if e.inspecting.Load() {
		e.gate.pass()
	}
	e.table.setKey(i, id)
	if e.index.store(id, e.index.hash(id), r, e.inFlight) != r {
		e.giveBack(s, i)
		e.count(countRefused)
		return Call[T]{}, ErrDuplicateID
	}
	e.begin(ctx, s, r, &o)
	return Call[T]{e: e, ref: r}, nil
}

// inFlight reports whether the call that the index names is pending, or about to be
// published: then its slot lags a generation behind. If not, the call has settled,
// and its winner is about to remove the entry; who replaces it comes first, and the
// winner will see that the entry no longer names its call.
func (e *Engine[T]) inFlight(r ref) bool {
	w := e.table.slot(r.index()).load()
	return w.gen() < r.gen() || w.gen() == r.gen() && w.live()
}

// registerReserved begins the call for which NextID reserved a slot.
func (e *Engine[T]) registerReserved(ctx context.Context, id codec.ID, o CallOptions[T]) (Call[T], error) {
	s, r, ok := e.find(id)
	if !ok {
		return Call[T]{}, ErrUnknownID
	}
	for {
		w := s.load()
		switch {
		case w.gen() == r.gen() && (w.live() || w.state() == reserved && w.tick() == registering):
			e.count(countRefused)
			return Call[T]{}, ErrDuplicateID
		case !w.is(r.gen(), reserved):
			return Call[T]{}, ErrUnknownID
		case s.swap(w, w.withTick(registering)):
			e.begin(ctx, s, r, &o)
			return Call[T]{e: e, ref: r}, nil
		}
	}
}

// forgo gives back the slot that NextID reserved for an id whose call a closed
// table does not take.
func (e *Engine[T]) forgo(id codec.ID) {
	if e.index != nil {
		return
	}
	if s, r, ok := e.find(id); ok {
		if w := s.load(); w.is(r.gen(), reserved) && w.tick() != registering {
			e.unreserve(s, r, w)
		}
	}
}
