package websocket

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// controlMost bounds, in bytes, the control frames that wait for a peer that does
// not read: some ten thousand pongs.
const controlMost = 64 << 10

// link is the connection below a WebSocket. What is written to it is queued and
// returns at once, so that no lock of the WebSocket is ever held by somebody who
// waits for the peer: the reader can answer a ping while the writer is stuck.
// flush writes what is queued, in one call; data waits for it, and control frames
// that nobody waits for have a goroutine that lives as long as there are some.
type link struct {
	net.Conn

	in *intake // nil reads from Conn as it is

	mu       sync.Mutex // protects the fields below
	settled  sync.Cond  // with mu: told when a write has ended
	out      *[]byte    // queued; nil when nothing is
	data     bool       // what is queued now is a message, whose writer flushes
	control  int        // bytes of control frames that were queued since the last write
	writing  bool
	flushing bool // the goroutine lives
	err      error

	readEnd error // met by Read, which alone touches it
	cut     atomic.Bool
}

var errFlooded = errors.New("websocket: the peer asks for pongs and does not read them")

func newLink(c net.Conn) *link {
	l := &link{Conn: c}
	l.settled.L = &l.mu
	return l
}

// Read reads, and notes when there was nothing left to read: then whatever message
// was being read has not come to its end, though the WebSocket may say so. An
// error that comes with bytes is given after them, so that nobody meets it who has
// not asked for more.
func (l *link) Read(p []byte) (int, error) {
	if l.in != nil {
		n, cut, err := l.in.read(p)
		if cut {
			l.cut.Store(true)
		}
		return n, err
	}
	if l.readEnd != nil {
		l.cut.Store(true)
		return 0, l.readEnd
	}
	n, err := l.Conn.Read(p)
	if err != nil && n > 0 {
		l.readEnd, err = err, nil
	}
	if err != nil {
		l.cut.Store(true)
	}
	return n, err
}

// Write queues p.
func (l *link) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	if l.out == nil {
		l.out = outBuffers.Get().(*[]byte)
	}
	*l.out = append(*l.out, p...)
	if l.data {
		return len(p), nil
	}
	if l.control += len(p); l.control > controlMost {
		l.failLocked(errFlooded)
		return 0, l.err
	}
	if !l.flushing {
		l.flushing = true
		go l.flushControl()
	}
	return len(p), nil
}

// gather makes what is written from now on wait for flush.
func (l *link) gather() {
	l.mu.Lock()
	l.data = true
	l.mu.Unlock()
}

// flush ends gather, and waits until everything queued has been written.
func (l *link) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = false
	return l.flushLocked()
}

func (l *link) flushControl() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.flushLocked() // kept in err
	l.flushing = false
}

// outKeep is the longest buffer that is kept for the next one who writes.
const outKeep = 256 << 10

// outBuffers are what links gather in: an idle one has none.
var outBuffers = sync.Pool{New: func() any { return new([]byte) }}

func (l *link) flushLocked() error {
	for l.err == nil && (l.writing || l.out != nil) {
		if l.writing {
			l.settled.Wait()
			continue
		}
		out := l.out
		l.out, l.control, l.writing = nil, 0, true
		l.mu.Unlock()
		_, err := l.Conn.Write(*out)
		if *out = (*out)[:0]; cap(*out) <= outKeep {
			outBuffers.Put(out)
		}
		l.mu.Lock()
		l.writing = false
		if err != nil {
			l.failLocked(err)
		}
		l.settled.Broadcast()
	}
	return l.err
}

// failLocked ends the link: a stream with a hole in it is of no use.
func (l *link) failLocked(err error) {
	if l.err == nil {
		l.err = err
		_ = l.Conn.Close()
	}
	l.settled.Broadcast()
}

// Close lets out what is queued, a close frame above all, within lastWrite.
func (l *link) Close() error {
	_ = l.Conn.SetWriteDeadline(time.Now().Add(lastWrite))
	_ = l.flush()
	return l.Conn.Close()
}

// lastWrite is how long the last frames may take to leave once the link is to be
// closed. A peer that reads takes them at once.
const lastWrite = 100 * time.Millisecond
