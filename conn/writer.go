package conn

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

const (
	// batchBytes is where the writer stops gathering and writes: a socket's buffer
	// takes about that much at once (212,992 bytes on Linux, less what the kernel
	// counts for itself), and the peer can begin.
	batchBytes = 128 << 10
	// directBytes is the size from which a node is written from its own buffer
	// instead of being copied into the batch: the copy of so much costs as much as a
	// write call.
	directBytes = 32 << 10
	// batchKeep is the largest batch buffer that is kept for the next writer, of
	// whichever connection: an idle one has none. A batch is at most batchBytes and a
	// node below directBytes; only storms of cancels can make it larger.
	batchKeep = 1 << 20
)

// writer is what writes: a goroutine, and while that sleeps whoever has something
// urgent and stands in for it (see standIn). It takes whatever is queued, leaves
// out what ended meanwhile, and writes the rest in one call.
//
// I4: a frame once begun is written whole, or the connection ends: nobody's
// deadline reaches the stream.
// I5: a cancel follows its request on the wire. The request is dispatched
// before it is copied; only a dispatched request is cancelled at the peer; and
// cancels are taken after the nodes of a batch.
type writer struct {
	to       io.Writer
	line     *line
	room     *room
	cancels  *cancels
	dispatch func(id codec.ID) bool                                                      // still pending? the frame is about to go out
	quit     <-chan struct{}                                                             // closed when nothing more shall be written
	encode   func(dst []byte, id codec.ID, method string, params []byte) ([]byte, error) // of loans
	now      TryWriter                                                                   // nil when the stream has no write that never waits

	// What follows belongs to who has the turn: the goroutine while it is awake, else
	// who stands in.
	standing  bool   // someone stands in: nothing may wait
	stuck     bool   // unwritten must go out before anything else
	unwritten []byte // what was left when one that stood in would have had to wait
	failed    error  // what the write of one that stood in ended with

	batch   []byte
	box     *[]byte // what batch came in, from batches; nil without a batch
	rest    *node   // taken from the line, not yet gathered
	charge  int     // what the batch holds of room
	frames  uint64
	skipped uint64
	flushed []chan struct{}
	lone    int // writes of one frame since the last of several, at most crowdLasts

	counts writerCounts
}

// writerCounts are added to once per write, by the writer alone.
type writerCounts struct {
	writes, bytes, frames, skipped atomic.Uint64
}

// run writes until quit is closed or a write fails, whose error it returns.
func (w *writer) run() error {
	defer w.abandon()
	for {
		if err := w.resume(); err != nil {
			return err
		}
		if w.rest == nil {
			w.rest = w.line.take()
		}
		if w.rest == nil && !w.cancels.any() {
			if !w.wait() {
				return nil
			}
			continue
		}
		if err := w.fill(); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
}

// resume goes on where one that stood in had to leave off.
func (w *writer) resume() error {
	if w.failed != nil || !w.stuck {
		return w.failed
	}
	w.stuck = false
	err := w.write(w.unwritten)
	w.unwritten = nil
	if err == nil {
		w.written()
	}
	return err
}

// wait sleeps until there is something to write; false says quit. Either way the
// goroutine has the turn again.
func (w *writer) wait() bool {
	w.line.sleep()
	if w.more() && w.line.rouse() {
		return true
	}
	select {
	case <-w.line.wake:
		return true
	case <-w.quit:
		w.line.awake()
		return false
	}
}

// more reports whether there is something to do, to who has not the turn.
func (w *writer) more() bool { return !w.line.empty() || w.cancels.waiting.Load() > 0 }

// fill gathers a batch. Callers that run at the same time get a chance to join
// it: the writer yields before it writes, and again for as long as that brings
// more. A single caller in a ping-pong is not made to wait for company that does
// not come.
func (w *writer) fill() error {
	if err := w.gather(); err != nil {
		return err
	}
	for before := uint64(0); w.rest == nil && w.frames > 1 && w.frames > before && len(w.batch) < batchBytes; {
		before = w.frames
		runtime.Gosched()
		w.rest = w.line.take()
		if err := w.gather(); err != nil {
			return err
		}
	}
	w.noteCrowd()
	w.batch = w.cancels.appendTo(w.batch, batchBytes)
	return nil
}

// crowdLasts is for how many writes of a single frame a crowd is still believed
// in: of many callers one comes alone now and then.
const crowdLasts = 16

func (w *writer) noteCrowd() {
	if w.frames > 1 {
		w.lone = 0
	} else {
		w.lone = min(w.lone+1, crowdLasts)
	}
	if crowd := w.lone < crowdLasts; crowd != w.line.crowd.Load() {
		w.line.crowd.Store(crowd)
	}
}

// batches are the buffers of writers that write.
var batches = sync.Pool{New: func() any { return new([]byte) }}

// gather moves nodes from rest into the batch until it is full.
func (w *writer) gather() error {
	if w.box == nil {
		w.box = batches.Get().(*[]byte)
		w.batch = (*w.box)[:0]
	}
	for w.rest != nil && len(w.batch) < batchBytes && !w.stuck {
		n := w.rest
		w.rest, n.next = n.next, nil
		if n.loan != nil {
			w.collect(n)
			continue
		}
		if n.open {
			w.line.closeOpen(n)
		}
		whole := w.admit(n)
		w.charge += n.charge
		if n.flushed != nil {
			w.flushed = append(w.flushed, n.flushed)
		}
		if whole && len(n.buf) >= directBytes {
			if err := w.direct(n); err != nil {
				return err
			}
		}
		putNode(n)
	}
	return nil
}

// admit copies the frames of n whose calls are still pending into the batch. It
// reports true, and copies nothing, when all of a large node may go out.
func (w *writer) admit(n *node) bool {
	if len(n.marks) == 0 {
		if n.call != noCall {
			if !w.dispatch(codec.IntID(n.call)) {
				w.skipped++
				return false
			}
			w.frames++
		}
		w.frames += uint64(n.frames)
		if len(n.buf) < directBytes {
			w.batch = append(w.batch, n.buf...)
		}
		return true
	}
	return w.admitBatch(n)
}

func (w *writer) admitBatch(n *node) bool {
	from, upto := 0, 0 // the frames that stand ready to be copied in one go
	whole := true
	for _, m := range n.marks {
		if m.call == noCall || w.dispatch(codec.IntID(m.call)) {
			w.frames++
			upto = m.end
			continue
		}
		whole = false
		w.skipped++
		w.batch = append(w.batch, n.buf[from:upto]...)
		from, upto = m.end, m.end
	}
	if whole && len(n.buf) >= directBytes {
		return true
	}
	w.batch = append(w.batch, n.buf[from:upto]...)
	return false
}

// collect encodes a request that was lent into the batch, if its call is still
// pending.
func (w *writer) collect(n *node) {
	w.charge += n.charge
	l := n.loan
	if !l.claim() {
		w.skipped++
		putLoan(n)
		return
	}
	if w.dispatch(l.id) {
		w.batch, _ = w.encode(w.batch, l.id, l.method, l.params) // loanMost fits every framing
		w.frames++
	} else {
		w.skipped++
	}
	l.state.Store(loanCopied) // n is the caller's from here on
}

// direct writes what was gathered and then n from its own buffer.
func (w *writer) direct(n *node) error {
	if err := w.write(w.batch); err != nil {
		return err
	}
	w.batch = w.batch[:0]
	if err := w.write(n.buf); err != nil {
		return err
	}
	w.written()
	return nil
}

// flush writes the batch.
func (w *writer) flush() error {
	if err := w.write(w.batch); err != nil {
		return err
	}
	if cap(w.batch) <= batchKeep {
		*w.box = w.batch[:0]
		batches.Put(w.box)
	}
	w.batch, w.box = nil, nil
	w.written()
	return nil
}

// written counts what was gathered and gives its room back, once all of it has
// left.
func (w *writer) written() {
	if w.stuck {
		return
	}
	w.counts.frames.Add(w.frames)
	if w.skipped > 0 {
		w.counts.skipped.Add(w.skipped)
	}
	w.frames, w.skipped = 0, 0
	w.room.release(w.charge)
	w.charge = 0
	w.announce()
}

func (w *writer) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if w.standing {
		return w.writeNow(p)
	}
	n, err := w.to.Write(p)
	w.counts.writes.Add(1)
	w.counts.bytes.Add(uint64(n))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// announce tells who waits in Flush.
func (w *writer) announce() {
	for i, done := range w.flushed {
		close(done)
		w.flushed[i] = nil
	}
	w.flushed = w.flushed[:0]
}

// abandon ends the writer. Who waits in Flush also watches the connection's
// end, so nothing needs to be told.
func (w *writer) abandon() {
	w.batch, w.box, w.unwritten, w.rest, w.flushed = nil, nil, nil, nil, nil
}
