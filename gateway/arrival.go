package gateway

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// arrival carries an answer through an engine to the call that it ends. The message
// is borrowed from the upstream's reader; an engine nearly always calls back before
// it returns, but it may put a callback off. Then the call gets a copy.
//
//	lent ──take──▶ inUse ──done──▶ used
//	  └──keep──▶ kept
type arrival struct {
	state atomic.Uint32
	m     *codec.Message
	burst *link.Burst
	copy  codec.Message
}

const (
	lent uint32 = iota
	inUse
	used
	kept
)

var arrivals = sync.Pool{New: func() any { return new(arrival) }}

func arrive(b *link.Burst, m *codec.Message) *arrival {
	a := arrivals.Get().(*arrival)
	a.m, a.burst = m, b
	a.state.Store(lent)
	return a
}

// take is for who got the outcome, and followed by done.
func (a *arrival) take() (*codec.Message, *link.Burst) {
	if a.state.CompareAndSwap(lent, inUse) {
		return a.m, a.burst
	}
	return &a.copy, nil
}

func (a *arrival) done() { a.state.CompareAndSwap(inUse, used) }

// release ends the loan: when it returns nobody looks at the message any more. taken
// says that a call was ended with a.
func (a *arrival) release(taken bool) {
	if taken && a.state.Load() == lent {
		a.copy = a.m.Detach()
		if a.state.CompareAndSwap(lent, kept) {
			return // whoever takes it leaves it to the collector
		}
	}
	for taken && a.state.Load() == inUse {
		runtime.Gosched() // on another goroutine, in the middle of passing it on
	}
	a.m, a.burst, a.copy = nil, nil, codec.Message{}
	arrivals.Put(a)
}
