package rival

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v3"

	"github.com/correlator-go/correlator/wheel"
)

const (
	cardShards  = 16
	cardPresize = 8192 // entries a shard is made for
)

// Card is the engine as one would first draw it: calls in sharded concurrent
// maps, presized, and for each shard a hierarchical timing wheel under a lock,
// driven by a goroutine once a millisecond. Every call is armed and cancelled in
// its wheel. With Pooled, calls and their channels are used again.
//
// It is safe for concurrent use. Close ends its goroutine.
type Card struct {
	last   atomic.Uint64
	pool   *sync.Pool // nil: a fresh call each time
	start  time.Time
	shards [cardShards]cardShard
	stop   chan struct{}
}

type cardShard struct {
	calls *xsync.MapOf[uint64, *CardCall]

	mu    sync.Mutex // protects the fields below
	wheel wheel.Wheel
	timed []*CardCall // by entry of the wheel
	free  []uint32
	_     [64]byte // keeps the next shard's lock off this line
}

// CardCall is one call of a [Card]. It must not be used after Wait.
type CardCall struct {
	ID     uint64 // what the answer must carry
	Method string
	start  time.Duration
	entry  uint32 // in its shard's wheel
	answer chan naiveAnswer
}

// NewCard returns an empty table. shardPresize is how many entries each of the 16
// shards is made for; 0 means 8192.
func NewCard(pooled bool, shardPresize int) *Card {
	if shardPresize == 0 {
		shardPresize = cardPresize
	}
	c := &Card{start: time.Now(), stop: make(chan struct{})}
	if pooled {
		c.pool = &sync.Pool{New: func() any { return newCardCall() }}
	}
	for i := range c.shards {
		c.shards[i].calls = xsync.NewMapOf[uint64, *CardCall](xsync.WithPresize(shardPresize), xsync.WithGrowOnly())
	}
	go c.drive()
	return c
}

func newCardCall() *CardCall { return &CardCall{answer: make(chan naiveAnswer, 1)} }

// Close ends the goroutine that drives the wheels. Pending calls stay.
func (c *Card) Close() { close(c.stop) }

func (c *Card) shard(id uint64) *cardShard { return &c.shards[id%cardShards] }

func ticks(d time.Duration) wheel.Tick { return wheel.Tick(uint64(d / time.Millisecond)) }

// Begin registers a call that fails with ErrTimeout after timeout.
func (c *Card) Begin(method string, timeout time.Duration) *CardCall {
	var call *CardCall
	if c.pool != nil {
		call = c.pool.Get().(*CardCall)
	} else {
		call = newCardCall()
	}
	now := time.Since(c.start)
	call.ID, call.Method, call.start = c.last.Add(1), method, now
	s := c.shard(call.ID)
	s.calls.Store(call.ID, call)
	s.mu.Lock()
	if n := len(s.free); n > 0 {
		call.entry, s.free = s.free[n-1], s.free[:n-1]
		s.timed[call.entry] = call
	} else {
		call.entry = uint32(len(s.timed))
		s.timed = append(s.timed, call)
		s.wheel.Grow(len(s.timed))
	}
	s.wheel.Schedule(call.entry, ticks(now+timeout)+1)
	s.mu.Unlock()
	return call
}

// Resolve gives the call of that id its answer, and reports whether it was still
// pending.
func (c *Card) Resolve(id uint64, value []byte) bool {
	s := c.shard(id)
	call, ok := s.calls.LoadAndDelete(id)
	if !ok {
		return false
	}
	s.mu.Lock()
	// The driver may have taken the entry out, and another call may have it.
	if s.timed[call.entry] == call && s.wheel.Cancel(call.entry) {
		s.release(call.entry)
	}
	s.mu.Unlock()
	call.answer <- naiveAnswer{value: value}
	return true
}

// release gives a wheel entry back. The caller holds s.mu.
func (s *cardShard) release(entry uint32) {
	s.timed[entry] = nil
	s.free = append(s.free, entry)
}

// Wait returns the answer, or the error of ctx; the call is then left to its
// timeout. Only the answer makes the call free for the next use.
func (c *Card) Wait(ctx context.Context, call *CardCall) ([]byte, error) {
	var a naiveAnswer
	if ctx.Done() == nil {
		a = <-call.answer
	} else {
		select {
		case a = <-call.answer:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if c.pool != nil {
		c.pool.Put(call)
	}
	return a.value, a.err
}

// drive expires what is due, once a millisecond.
func (c *Card) drive() {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	due := make([]uint32, 0, 256)
	ids := make([]uint64, 0, 256)
	for {
		select {
		case <-c.stop:
			return
		case <-ticker.C:
		}
		now := ticks(time.Since(c.start))
		for i := range c.shards {
			s := &c.shards[i]
			for more := true; more; {
				ids = ids[:0]
				s.mu.Lock()
				due, more = s.wheel.Advance(now, due[:0])
				for _, entry := range due {
					ids = append(ids, s.timed[entry].ID)
					s.release(entry)
				}
				s.mu.Unlock()
				for _, id := range ids {
					if call, ok := s.calls.LoadAndDelete(id); ok {
						call.answer <- naiveAnswer{err: ErrTimeout}
					}
				}
			}
		}
	}
}
