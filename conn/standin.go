package conn

import "io"

// TryWriter is what a stream may be besides an io.ReadWriteCloser. Whoever queues
// something while nobody writes then writes it at once, and the writer's goroutine
// need not be woken for it. *net.UnixConn and *net.TCPConn are written to in this
// way on Unix without having the method.
type TryWriter interface {
	// TryWrite writes as much of p as the stream takes without waiting, and
	// reports how much that was. Less than all of it with a nil error says that
	// the rest would have to wait; Write is then called with the rest. Neither is
	// called while a call of the other or of itself is under way. p is borrowed
	// until TryWrite returns. An error ends the connection, as one of Write's does.
	TryWrite(p []byte) (n int, err error)
}

// TryWriterOf gives what writes to stream without waiting, nil if nothing does. It
// is for streams that wrap another, which to a Conn look like nothing it knows:
// their TryWrite can pass on to it.
func TryWriterOf(stream io.ReadWriteCloser) TryWriter {
	if w, ok := stream.(TryWriter); ok {
		return w
	}
	return socketWriter(stream)
}

// standInPasses is how often one that stands in for the writer looks for more: it
// has work of its own to do.
const standInPasses = 4

// standIn is run by whoever has just ended the sleep of the writer, in its place.
// It writes what is queued as far as the stream takes it without waiting, and
// puts the writer back to sleep: that spares two switches of goroutines, and the
// frames leave before the caller goes on. False says that the writer must be
// woken after all: the peer does not read fast enough, a write failed, or there is
// no end of it.
//
// The turn to write belongs to who has the writer awake: sleeping is true only
// while nobody touches what is the writer's own.
func (w *writer) standIn() bool {
	for range standInPasses {
		if w.rest == nil {
			w.rest = w.line.take()
		}
		if w.rest == nil && !w.cancels.any() {
			w.line.sleep()
			if !w.more() || !w.line.rouse() {
				return true
			}
			continue
		}
		w.standing = true
		err := w.gather()
		if err == nil && !w.stuck {
			w.noteCrowd()
			w.batch = w.cancels.appendTo(w.batch, batchBytes)
			err = w.flush()
		}
		w.standing = false
		if err != nil {
			w.failed = err
		}
		if w.stuck || err != nil {
			return false
		}
	}
	return false
}

// writeNow is write of one that stands in. What does not leave at once is kept in
// the batch for the writer.
func (w *writer) writeNow(p []byte) error {
	if w.stuck {
		w.unwritten = append(w.unwritten, p...)
		return nil
	}
	n, err := w.now.TryWrite(p)
	w.counts.writes.Add(1)
	w.counts.bytes.Add(uint64(n))
	if err == nil && n < len(p) {
		w.unwritten = append(w.unwritten, p[n:]...)
		w.stuck = true
	}
	return err
}
