package websocket

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

// intakeBytes is what is read at once.
const intakeBytes = 16 << 10

var intakeBuffers = sync.Pool{New: func() any { return new([intakeBytes]byte) }}

// intake is the reading side of a link that waits without a buffer, and with little on
// the stack: a WebSocket waits for hours, and where the library would wait is four
// times as deep as where await does.
//
// W1: no call of read gives bytes of two frames, so between two messages the library's
// own buffer is empty, and what comes next is here or has not come.
type intake struct {
	from codec.LazyReader

	mu      sync.Mutex         // held by who reads; protects the fields below
	buffer  *[intakeBytes]byte // nil when nothing is buffered
	unread  []byte             // of buffer
	left    uint64             // bytes of the frame that is being read
	end     error              // met behind unread
	between atomic.Bool        // the reader looks for a message, and would rather await it
	parting atomic.Bool        // somebody waits for the peer's close frame, in the library
}

// errIdle breaks the library's search for a message off: what came were control frames,
// and nothing more is there. The library gives it back, and can be asked again.
var errIdle = errors.New("websocket: idle")

// newIntake begins with bytes that were read already, at most intakeBytes.
func newIntake(from codec.LazyReader, begun []byte) *intake {
	i := &intake{from: from}
	if len(begun) > 0 {
		i.buffer = intakeBuffers.Get().(*[intakeBytes]byte)
		i.unread = i.buffer[:copy(i.buffer[:], begun)]
	}
	return i
}

// await returns when there is something to read, or nothing any more. What lender has
// lent is given back before it waits.
func (i *intake) await(lender codec.Lender) {
	i.mu.Lock()
	if len(i.unread) == 0 && i.end == nil {
		lender.Return()
		i.more()
	}
	i.mu.Unlock()
}

// read is Read of the link. Its end is the stream's: cut says that it was met.
func (i *intake) read(p []byte) (n int, cut bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.left == 0 {
		if i.left = frameSize(i.unread); i.left > 0 {
			break
		}
		switch {
		case i.end != nil:
			return 0, true, i.end
		case len(i.unread) == 0 && i.between.Load() && !i.parting.Load():
			return 0, false, errIdle
		}
		i.more()
	}
	for len(i.unread) == 0 {
		if i.end != nil {
			return 0, true, i.end
		}
		i.more()
	}
	n = copy(p, i.unread[:min(uint64(len(i.unread)), i.left)])
	i.left -= uint64(n)
	if i.unread = i.unread[n:]; len(i.unread) == 0 {
		intakeBuffers.Put(i.buffer)
		i.buffer = nil
	}
	return n, false, nil
}

// more reads once, behind what is there.
func (i *intake) more() {
	n, err := i.from.ReadLazily((*borrower)(i))
	if n > 0 {
		i.unread = i.buffer[:len(i.unread)+n]
	} else if len(i.unread) == 0 {
		(*borrower)(i).Return()
	}
	i.end = err
}

// borrower lends the intake's buffer.
type borrower intake

// Lend implements codec.Lender. What is unread, the beginning of a header at most,
// moves to the front.
func (b *borrower) Lend() []byte {
	if b.buffer == nil {
		b.buffer = intakeBuffers.Get().(*[intakeBytes]byte)
	}
	n := copy(b.buffer[:], b.unread)
	b.unread = b.buffer[:n]
	return b.buffer[n:]
}

// Return implements codec.Lender.
func (b *borrower) Return() {
	if len(b.unread) == 0 && b.buffer != nil {
		intakeBuffers.Put(b.buffer)
		b.buffer, b.unread = nil, nil
	}
}

// frameSize is how long a frame is with its header, RFC 6455 section 5.2; 0 while the
// header is not whole.
func frameSize(b []byte) uint64 {
	if len(b) < 2 {
		return 0
	}
	header, size := 2, uint64(b[1]&0x7f)
	switch size {
	case 126:
		header += 2
	case 127:
		header += 8
	}
	if len(b) < header {
		return 0
	}
	switch header {
	case 4:
		size = uint64(binary.BigEndian.Uint16(b[2:]))
	case 10:
		size = binary.BigEndian.Uint64(b[2:]) &^ (1 << 63) // which must not be set: the library refuses it
	}
	if b[1]&0x80 != 0 {
		header += 4
	}
	if len(b) < header {
		return 0
	}
	return uint64(header) + size
}
