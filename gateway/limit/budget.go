package limit

import (
	"errors"
	"sync/atomic"
)

// DefaultPartialBytes is how many bytes of frames and bodies that are not whole a
// process holds.
const DefaultPartialBytes = 256 << 20

// Partial is the budget of this process for frames and bodies of clients that are not
// whole yet: any number of clients may each begin a large one and never end it.
var Partial = NewBudget(DefaultPartialBytes)

// ErrBudget: the budget is used up.
var ErrBudget = errors.New("limit: too many bytes of frames that are not whole")

// Budget is a number of bytes that many share. It is safe for concurrent use.
type Budget struct{ most, used atomic.Int64 }

// NewBudget makes a budget; most is in bytes, and zero or negative is no bound.
func NewBudget(most int64) *Budget {
	b := new(Budget)
	b.Bound(most)
	return b
}

// Bound sets how many bytes it has from now on.
func (b *Budget) Bound(most int64) { b.most.Store(most) }

// Used is how many bytes are in use.
func (b *Budget) Used() int64 { return b.used.Load() }

// Charge takes bytes, or gives them back if they are negative, which never fails.
// The error is ErrBudget, and then nothing was taken.
func (b *Budget) Charge(bytes int64) error {
	for {
		used, most := b.used.Load(), b.most.Load()
		if bytes > 0 && most > 0 && used+bytes > most {
			return ErrBudget
		}
		if b.used.CompareAndSwap(used, used+bytes) {
			return nil
		}
	}
}
