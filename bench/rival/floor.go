package rival

import (
	"bytes"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// Floor exchanges lines over a stream with nothing but order to match them: what
// any connection with blocking callers has to do at the least. Callers append
// their frame to a common buffer; the first one to find nobody writing yields
// once, so that others join, and writes all there is. The reader hands each
// answer to the caller whose turn it is, in that caller's own buffer, and wakes
// it. It has no ids, no table, no deadlines, and trusts the peer to answer
// everything in order.
type Floor struct {
	stream io.ReadWriteCloser
	writes atomic.Int64

	mu      sync.Mutex // protects the fields below
	out     []byte     // frames that wait to be written
	spare   []byte     // the buffer that out changes places with
	writing bool
	err     error

	// waiting is a ring of the callers in order. A caller writes its place while it
	// holds mu and then publishes it in asked; the reader takes places up to asked.
	waiting []*FloorCaller
	asked   atomic.Uint64
}

// FloorCaller is one caller, with at most one call at a time.
type FloorCaller struct {
	// Answer is the line that came back, until the next call.
	Answer []byte
	awake  chan error
}

// NewFloorCaller returns a caller.
func NewFloorCaller() *FloorCaller { return &FloorCaller{awake: make(chan error, 1)} }

const floorReadSize = 256 << 10

// NewFloor starts reading stream, which it owns. callers bounds the calls in
// flight; it is rounded up to a power of two.
func NewFloor(stream io.ReadWriteCloser, callers int) *Floor {
	size := 1
	for size < callers {
		size *= 2
	}
	f := &Floor{stream: stream, waiting: make([]*FloorCaller, size)}
	go f.read()
	return f
}

// Call sends frame, which ends in a newline, and parks until c has the answer.
func (f *Floor) Call(c *FloorCaller, frame []byte) error {
	f.mu.Lock()
	if f.err != nil {
		f.mu.Unlock()
		return f.err
	}
	turn := f.asked.Load()
	f.waiting[turn%uint64(len(f.waiting))] = c
	f.asked.Store(turn + 1)
	f.out = append(f.out, frame...)
	write := !f.writing
	f.writing = true
	f.mu.Unlock()
	if write {
		f.write()
	}
	return <-c.awake
}

// write writes until nothing waits.
func (f *Floor) write() {
	for {
		runtime.Gosched()
		f.mu.Lock()
		if len(f.out) == 0 {
			f.writing = false
			f.mu.Unlock()
			return
		}
		batch := f.out
		f.out = f.spare[:0]
		f.mu.Unlock()
		f.writes.Add(1)
		_, err := f.stream.Write(batch)
		f.mu.Lock()
		f.spare = batch[:0]
		if err != nil && f.err == nil {
			f.err = err // the reader fails those who wait
		}
		f.mu.Unlock()
	}
}

// read hands answers out until the stream ends, and then the error.
func (f *Floor) read() {
	buf := make([]byte, floorReadSize)
	var turn uint64
	have := 0
	for {
		n, err := f.stream.Read(buf[have:])
		have += n
		lines := buf[:have]
		for {
			end := bytes.IndexByte(lines, '\n')
			if end < 0 {
				break
			}
			if turn == f.asked.Load() {
				err = io.ErrUnexpectedEOF // an answer nobody asked for
				break
			}
			c := f.waiting[turn%uint64(len(f.waiting))]
			turn++
			c.Answer = append(c.Answer[:0], lines[:end]...)
			c.awake <- nil
			lines = lines[end+1:]
		}
		have = copy(buf, lines)
		if have == len(buf) {
			err = io.ErrShortBuffer
		}
		if err != nil {
			f.fail(turn, err)
			return
		}
	}
}

// fail ends all calls from turn on, and those to come.
func (f *Floor) fail(turn uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	for ; turn < f.asked.Load(); turn++ {
		f.waiting[turn%uint64(len(f.waiting))].awake <- f.err
	}
}

// Writes is the number of write calls so far.
func (f *Floor) Writes() int64 { return f.writes.Load() }

// Close closes the stream; calls in flight fail.
func (f *Floor) Close() error { return f.stream.Close() }
