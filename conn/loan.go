package conn

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

const (
	// loanLeast is the length of params, in bytes, from which on a caller that waits
	// lends them: what is shorter joins the open batch at less than the price of a node.
	loanLeast = 512
	// loanMost is the longest that is lent: beyond it a frame is written from a buffer
	// of its own, which is one copy as well.
	loanMost = directBytes - FrameOverhead
)

// loan is the request of a caller that waits, with its params where the caller has
// them. The writer encodes it into the batch that it is about to write. So params
// are copied once, into memory that is in the cache because it was written just
// before, and the queue holds no second copy of what waits in it: with a thousand
// callers that is megabytes, which no cache holds either.
//
// The params are the caller's again when Call returns. So before it does it ends
// the loan, whatever its outcome is: also a peer may answer what it was not asked yet.
//
//	queued ──writer: claim──▶ copying ──▶ copied      the caller has the node
//	   └─────caller: end────▶ withdrawn               the writer has it
//
// I11: params are read in the state copying alone, and Call does not return in it.
type loan struct {
	id     codec.ID
	method string
	params []byte
	state  atomic.Uint32
}

const (
	loanQueued uint32 = iota
	loanCopying
	loanCopied
	loanWithdrawn
)

// loans has nodes that have a loan and no buffer.
var loans = sync.Pool{New: func() any { return &node{call: noCall, loan: new(loan)} }}

// lends reports whether a waiting caller's params are lent. What needs a progress
// token in them is not sent as it is. Those of a caller that keeps its result are
// copied: with 1,024 callers of 4 KiB lending gains it 3 % where the heap has room
// (GOGC=400), and costs 13 % in a small one, as the collector runs the more often the
// less is alive beside results, and the queue's copies are.
func (c *Conn) lends(params []byte, o *CallOptions) bool {
	return o.Into != nil && len(params) >= loanLeast && len(params) <= loanMost && c.plainFramer && !c.wantsProgress(o)
}

// lend queues a request whose params the writer will copy. need bytes of room are
// held for it. The caller must call endLoan, and sends nothing before; so the node
// closes no batch (I9).
func (c *Conn) lend(id codec.ID, method string, params []byte, need int) *node {
	n := loans.Get().(*node)
	n.charge = need
	n.call, _ = id.Int()
	l := n.loan
	l.id, l.method, l.params = id, method, params
	l.state.Store(loanQueued)
	c.line.add(n)
	c.line.tell(waiting)
	return n
}

// claim begins the copying, and reports whether the caller still lends.
func (l *loan) claim() bool { return l.state.CompareAndSwap(loanQueued, loanCopying) }

// endLoan waits until the params are read no more, or sees to it. It never waits for
// the peer. The caller has no node after it.
func (n *node) endLoan() {
	for {
		switch n.loan.state.Load() {
		case loanCopied:
			putLoan(n)
			return
		case loanQueued:
			if n.loan.state.CompareAndSwap(loanQueued, loanWithdrawn) {
				return
			}
		default:
			runtime.Gosched() // for as long as some kilobytes take to be copied
		}
	}
}

func putLoan(n *node) {
	l := n.loan
	l.method, l.params = "", nil
	n.next, n.charge = nil, 0
	loans.Put(n)
}
