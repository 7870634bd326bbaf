package engine

import (
	"github.com/correlator-go/correlator/wheel"
)

// A slot's whole life is one 64-bit word:
//
//	deadline tick : 32 | generation : 28 | state : 4        of a slot in use
//	next free + 1 : 32 | generation : 28 | state : 4        of a free slot
//
// A call's reference, which is also its minted id, is generation<<24 | slot. The
// generation is raised when the slot is taken, never lowered and never reused, so
// a word whose generation differs from the reference's belongs to another call
// and no compare-and-swap made for the one can win on the other (I2).
//
//	                                  claim: THE one compare-and-swap that settles
//	            publish    ┌─▶ callback, discarded ──────────────────▶ free, on no stack
//	         ┌─────────────┤                                           until the winner
//	         │             │                                           is done with it
//	free ──┬─┴─────────────┴─▶ pending ───▶ settling ────────▶ answered, ended ──┐
//	  ▲    └─▶ reserved ─┘      │park          │park           (nobody waits)    │consume,
//	  │                         ▼              ▼                                 │reclaim
//	  │                       parked ───▶ settlingParked ────▶ answeredHeld,     │
//	  │                                                        endedHeld ────────┤
//	  └──────────────────────────────────────────────────────────────────────────┘
//
// Beside parked, the same four live and settling states exist with a channel of
// Done to close (watched): the bits parkedBit and watchedBit combine freely.
//
//   - free: on a stack of the free list, or in the hands of the goroutine that took
//     it from there or is about to put it back.
//   - reserved: the slot's id is known (NextID gave it, or a caller's id is on its
//     way into the index), but the call is not registered yet.
//   - callback, discarded: live, and its outcome is never for the handle.
//   - settling: the winner writes the outcome. The state exists so that the
//     outcome is written before it is visible.
//   - answered, ended: there is an outcome, a value or a failure, and whoever
//     consumes it first has it; when nobody comes, the driver reclaims it.
//   - answeredHeld, endedHeld: the waiter that parked owns the outcome and is
//     being woken; nothing else may touch it.
type state uint64

const (
	free      state = 0b0000
	reserved  state = 0b0001
	callback  state = 0b0010 // live: a function gets the outcome
	discarded state = 0b0011 // live: nobody gets the outcome

	pending             state = 0b0100 // live, as are the next three
	parked                    = pending | parkedBit
	watched                   = pending | watchedBit
	settling            state = 0b1000 // and three more with the two bits
	settlingParked            = settling | parkedBit
	settlingAllAttended       = settling | attendedBits

	answered     state = 0b1100
	answeredHeld       = answered | parkedBit
	ended        state = 0b1110
	endedHeld          = ended | parkedBit

	parkedBit    state = 0b0001 // a waiter sleeps, or is about to: wake it
	watchedBit   state = 0b0010 // a channel is to be closed
	attendedBits       = parkedBit | watchedBit
)

var stateNames = [16]string{
	"free", "reserved", "callback", "discarded",
	"pending", "parked", "watched", "parkedWatched",
	"settling", "settlingParked", "settlingWatched", "settlingParkedWatched",
	"answered", "answeredHeld", "ended", "endedHeld",
}

// String gives the name of s.
func (s state) String() string { return stateNames[s&stateMask] }

const (
	stateBits = 4
	stateMask = 1<<stateBits - 1
	genBits   = 28
	genMask   = 1<<genBits - 1
	tickShift = stateBits + genBits

	indexBits = 24
	indexMask = 1<<indexBits - 1

	// noTick stands for "no deadline" in a word and for "not in the wheel" in a
	// slot's resident tick. A deadline that would fall on it moves one tick back.
	noTick wheel.Tick = 0
	// registering stands in the word of a reserved slot whose call is about to be
	// published: it belongs to the goroutine that put it there.
	registering wheel.Tick = 1<<32 - 1
)

// Ids must survive a peer that keeps numbers as float64.
const _ = uint(53 - genBits - indexBits)

// word is the value of a slot's word at one moment.
type word uint64

func makeWord(tick wheel.Tick, gen uint32, s state) word {
	return word(tick)<<tickShift | word(gen)<<stateBits | word(s)
}

func (w word) state() state     { return state(w & stateMask) }
func (w word) gen() uint32      { return uint32(w>>stateBits) & genMask }
func (w word) tick() wheel.Tick { return wheel.Tick(w >> tickShift) }

// next is the free slot below this one, plus one; only a free word has it.
func (w word) next() uint32 { return uint32(w >> tickShift) }

func (w word) with(s state) word           { return w&^stateMask | word(s) }
func (w word) withTick(t wheel.Tick) word  { return w&(1<<tickShift-1) | word(t)<<tickShift }
func (w word) withNext(below uint32) word  { return w.withTick(wheel.Tick(below)) }
func (w word) is(gen uint32, s state) bool { return w&(1<<tickShift-1) == word(gen)<<stateBits|word(s) }

// live reports whether the call is registered and not settled: callback,
// discarded, pending and its attended forms.
func (w word) live() bool { return (w&stateMask)-word(callback) <= word(pending|attendedBits-callback) }

// settled reports whether an outcome is there.
func (w word) settled() bool { return w&stateMask >= word(answered) }

// settlingNow reports whether a winner is at work.
func (w word) settlingNow() bool {
	return (w&stateMask)-word(settling) <= word(attendedBits)
}

// claimed is the word that a claim of w leaves. Attended states keep who attends;
// where nobody can, there is nothing to make visible, and the slot is free at once:
// it is on no stack yet, so it still belongs to the winner.
func (w word) claimed() word {
	if s := w.state(); s >= pending {
		return w.with(settling | s&attendedBits)
	}
	return w.with(free).withNext(onNoStack)
}

// onNoStack is the link of a free slot that its winner is not done with.
const onNoStack = 1 << 31

const _ = uint(31 - (indexBits + 1)) // it is no slot's number

// ending reports whether the call was claimed and its winner is not done with it.
func (w word) ending() bool {
	return w.settlingNow() || w.state() == free && w.next() == onNoStack
}

// ref names one call of one slot: generation<<24 | slot. Zero names none, for
// generations begin at one.
type ref uint64

const refMax = 1<<(genBits+indexBits) - 1

func makeRef(gen, index uint32) ref { return ref(gen)<<indexBits | ref(index) }

func (r ref) index() uint32 { return uint32(r & indexMask) }
func (r ref) gen() uint32   { return uint32(r >> indexBits) }
