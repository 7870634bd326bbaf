package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// numberOf is the number in an id of a stress.
func numberOf(id codec.ID) int64 {
	n, ok := id.Int()
	if !ok {
		n, _ = strconv.ParseInt(id.Text(), 10, 64)
	}
	return n
}

// idOf is the id of a number: with callers' ids every other one is a string.
func (s *stress) idOf(n int64) codec.ID {
	if s.callers && n%2 == 0 {
		return codec.StringID(strconv.FormatInt(n, 10))
	}
	return codec.IntID(n)
}

// someID is the id of a call of late, which may have ended.
func (s *stress) someID(rng *rand.Rand) codec.ID {
	return s.idOf(s.recent[rng.IntN(len(s.recent))].Load())
}

// work does at most ops operations and returns how many it has not done, because
// the ids are exhausted.
func (s *stress) work(rng *rand.Rand, ops int) int {
	var held []engine.Call[int64]
	defer func() {
		for _, c := range held {
			s.wait(rng, c)
		}
	}()
	for ; ops > 0 && !s.exhaust.Load(); ops-- {
		id := s.someID(rng)
		switch rng.IntN(20) {
		case 0, 1, 2, 3, 4, 5:
			if c, ok := s.begin(rng); ok {
				held = append(held, c)
			}
		case 6, 7, 8, 9:
			s.e.Resolve(id, numberOf(id))
		case 10:
			s.e.Reject(id, &codec.Error{Code: numberOf(id)})
		case 11:
			s.e.Cancel(id, nil)
		case 12, 13:
			s.e.Touch(id)
		case 14:
			s.e.Dispatch(id)
		case 15:
			s.look(rng, id)
		case 16:
			if s.clock != nil {
				s.clock.Advance(time.Millisecond)
			}
		case 17:
			if len(held) > 0 && rng.IntN(4) == 0 {
				held[0].Discard() // waiting for it below says so
			}
		default:
			if rng.IntN(400) == 0 {
				s.e.FailAll(errGone, false)
			}
		}
		if len(held) > s.hold {
			s.wait(rng, held[0])
			held = held[1:]
		}
	}
	return ops
}

// begin registers a call of any kind, and returns it if its outcome is for the
// handle.
func (s *stress) begin(rng *rand.Rand) (c engine.Call[int64], kept bool) {
	o := engine.CallOptions[int64]{
		Method:      "tools/call",
		Timeout:     time.Duration(1+rng.IntN(3)) * time.Millisecond,
		IdleTimeout: []time.Duration{-1, time.Millisecond, 2 * time.Millisecond}[rng.IntN(3)],
	}
	if s.hold > 0 && rng.IntN(4) == 0 {
		o.Timeout = 20 * time.Millisecond
	}
	var number int64
	kind := rng.IntN(4)
	switch kind {
	case 0:
		o.Notify = func(o engine.Outcome[int64]) { s.took(o.ID, o.Value, o.Err, o.Status) }
	case 1:
		o.Discard = true
	}
	var err error
	if s.callers {
		number, _ = s.e.NextID().Int()
		if rng.IntN(8) == 0 {
			number = -int64(rng.IntN(16)) - 1 // one that others use as well
		}
		c, err = s.e.Register(context.Background(), s.idOf(number), o)
	} else {
		c, err = s.e.Begin(context.Background(), o)
		if err == nil {
			number = numberOf(c.ID())
		}
	}
	switch {
	case errors.Is(err, engine.ErrIDsExhausted):
		s.exhaust.Store(true)
		return c, false
	case err != nil:
		ok := errors.Is(err, engine.ErrFull) || errors.Is(err, engine.ErrDuplicateID)
		assert.True(s.t, ok, "%v", err)
		return c, false
	}
	s.began.Add(1)
	s.recent[rng.IntN(len(s.recent))].Store(number)
	if kind == 1 {
		s.unwanted.Add(1)
	}
	if s.hold == 0 && rng.IntN(64) > 0 { // everybody else waits for the room
		if id := s.idOf(number); rng.IntN(2) == 0 {
			s.e.Resolve(id, number)
		} else {
			s.e.Cancel(id, nil)
		}
	}
	return c, kind > 1
}

// wait takes the outcome of a call in one of the ways there are. With the manual
// clock it is time that passes meanwhile.
func (s *stress) wait(rng *rand.Rand, c engine.Call[int64]) {
	id := c.ID()
	switch rng.IntN(4) {
	case 0:
		c.Cancel(nil)
	case 1:
		if s.clock == nil && !id.IsAbsent() {
			<-c.Done()
		}
	}
	ctx := context.Background()
	if rng.IntN(8) == 0 || s.clock != nil {
		ctx = doneContext
	}
	v, err := c.Wait(ctx)
	status := engine.Resolved
	if err != nil {
		status = engine.Rejected
		if e, ok := errors.AsType[*engine.CallError](err); ok {
			status = e.Status
			id = e.ID
		}
	}
	if errors.Is(err, engine.ErrConsumed) {
		s.unwanted.Add(1) // it was discarded, or reclaimed
		return
	}
	s.took(id, v, err, status)
}

// took counts an outcome that reached its owner, and looks whether it is his.
func (s *stress) took(id codec.ID, v int64, err error, status engine.Status) {
	s.taken[status].Add(1)
	switch status {
	case engine.Resolved:
		assert.NoError(s.t, err)
		assert.Equal(s.t, numberOf(id), v)
	case engine.Rejected:
		if e, ok := errors.AsType[*codec.Error](err); assert.True(s.t, ok) {
			assert.Equal(s.t, numberOf(id), e.Code)
		}
	default:
		if e, ok := errors.AsType[*engine.CallError](err); assert.True(s.t, ok) {
			assert.Equal(s.t, id, e.ID)
			assert.Equal(s.t, status, e.Status)
		}
	}
}

// look asks what there is to ask about a call that may be anywhere in its life.
func (s *stress) look(rng *rand.Rand, id codec.ID) {
	if method, ok := s.e.Method(id); ok {
		assert.Equal(s.t, "tools/call", method)
	}
	if age, ok := s.e.Age(id); ok {
		assert.GreaterOrEqual(s.t, age, time.Duration(0))
	}
	if rng.IntN(50) == 0 {
		stats := s.e.Stats()
		assert.GreaterOrEqual(s.t, s.e.Len(), 0)
		assert.GreaterOrEqual(s.t, stats.Pending, 0)
		assert.LessOrEqual(s.t, stats.Pending, stats.Slots)
		s.e.Pending()
	}
}
