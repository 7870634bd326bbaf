package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Free slots stand on stacks, one stripe per P. A stack's head is
//
//	tag : 32 | callbacks running : 7 | slot + 1 : 25
//
// and the link to the slot below lies in the free slot's own word. Every pop
// raises the tag, so a pop that read the head before another pop fails, whatever
// came back on top meanwhile (no ABA); and an empty head that has not changed
// between two looks was empty all the time between.
//
// A goroutine finds a stripe through a sync.Pool of tokens, which hands each P the
// one it put back last. Tokens come and go (the collector empties the pool, a
// goroutine that holds one is preempted, and another is made), so that two Ps may
// come to use one stripe; who finds the stripe changed under its hands moves to
// another. There are more stripes than Ps, and a P whose stripe is empty takes from
// the others.
type freelist[T any] struct {
	table   *table[T]
	tokens  sync.Pool
	stripes []atomic.Pointer[stripe[T]] // made when first used

	bound    uint32 // MaxPending
	slotsMax uint32
	genMax   uint32

	_ [64]byte // what is above is only read

	turn atomic.Uint32
	// fresh is the first slot that was never handed out; retired counts those
	// whose generations are spent, which the bound makes up for.
	fresh   atomic.Uint32
	retired atomic.Uint32
	// moving counts moves of several slots under way: meanwhile those slots are on
	// no stack, and finding every stack empty does not mean that the table is full.
	moving atomic.Int32
}

// stripe is one stack on a cache line of its own, and what else is best kept
// apart per P.
type stripe[T any] struct {
	head atomic.Uint64
	_    [56]byte

	late   lateCallbacks[T]
	counts counts
}

// token is held by one goroutine at a time.
type token[T any] struct{ *stripe[T] }

// batch is how many slots move at once, from the fresh ones or another stripe.
const batch = 16

func (f *freelist[T]) init(t *table[T], bound, slotsMax, genMax uint32, stripes int) {
	f.table = t
	f.bound, f.slotsMax, f.genMax = bound, slotsMax, genMax
	if stripes == 0 {
		stripes = 2*runtime.GOMAXPROCS(0) - 1
	}
	f.stripes = make([]atomic.Pointer[stripe[T]], stripes)
	f.tokens.New = func() any { return &token[T]{f.nextStripe()} }
}

func (f *freelist[T]) nextStripe() *stripe[T] {
	place := &f.stripes[f.turn.Add(1)%uint32(len(f.stripes))]
	for {
		if st := place.Load(); st != nil {
			return st
		}
		place.CompareAndSwap(nil, new(stripe[T]))
	}
}

// hold returns this P's token; release puts it back.
func (f *freelist[T]) hold() *token[T]      { return f.tokens.Get().(*token[T]) }
func (f *freelist[T]) release(tk *token[T]) { f.tokens.Put(tk) }

// collided moves the token away from a stripe that another P uses.
func (f *freelist[T]) collided(tk *token[T]) { tk.stripe = f.nextStripe() }

// take takes a slot from wherever there is one: this P's stack, another's, or the
// fresh ones. Others come before fresh ones, so that the table grows to the peak
// in flight and no farther, also when one P begins calls and another frees them.
func (f *freelist[T]) take() (s *slot[T], i uint32) {
	tk := f.hold()
	head := tk.head.Load()
	if top := topOf(head); top != 0 {
		s := f.table.slot(top - 1)
		// The word may be another call's by now; then the tag has moved on too.
		if tk.head.CompareAndSwap(head, poppedTo(head, s.load().next())) {
			f.release(tk)
			return s, top - 1
		}
		f.collided(tk)
	}
	s, i = f.takeAnywhere(tk.stripe)
	f.release(tk)
	return s, i
}

func (f *freelist[T]) takeAnywhere(st *stripe[T]) (s *slot[T], i uint32) {
	if s, i = f.pop(st); s == nil {
		if s, i = f.steal(st); s == nil {
			s, i = f.fill(st)
		}
	}
	return s, i
}

const (
	tagShift   = 32
	depthShift = indexBits + 1
	depthOne   = 1 << depthShift
	topMask    = depthOne - 1
)

func topOf(head uint64) uint32                  { return uint32(head) & topMask }
func depthOf(head uint64) uint32                { return uint32(head) >> depthShift }
func withTop(head uint64, top uint32) uint64    { return head&^topMask | uint64(top) }
func poppedTo(head uint64, below uint32) uint64 { return withTop(head+1<<tagShift, below) }

// pop takes the slot on top, and its number; nil when the stack is empty.
func (f *freelist[T]) pop(st *stripe[T]) (*slot[T], uint32) {
	for {
		head := st.head.Load()
		top := topOf(head)
		if top == 0 {
			return nil, 0
		}
		s := f.table.slot(top - 1)
		if st.head.CompareAndSwap(head, poppedTo(head, s.load().next())) {
			return s, top - 1
		}
	}
}

// push puts a chain of slots, linked from first to last, on top of the stack. The
// caller owns them; last's word is free, its link is set here.
func (f *freelist[T]) push(st *stripe[T], first uint32, last *slot[T]) {
	for {
		head := st.head.Load()
		last.store(last.load().withNext(topOf(head)))
		if st.head.CompareAndSwap(head, withTop(head, first+1)) {
			return
		}
	}
}

// pushAndEnter pushes slot i, whose word is already free and names the top of head
// as the one below, and counts a callback in unless too many are running.
func (f *freelist[T]) pushAndEnter(st *stripe[T], head uint64, i uint32, s *slot[T]) (entered bool) {
	for {
		next := withTop(head, i+1)
		if entered = depthOf(head) < depthMax; entered {
			next += depthOne
		}
		if st.head.CompareAndSwap(head, next) {
			return entered
		}
		head = st.head.Load()
		s.store(s.load().withNext(topOf(head)))
	}
}
