package codec

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/correlator-go/correlator/internal/chunk"
)

// ReaderOptions are the settings of a [Reader]. The zero value reads lines of at
// most 16 MiB in strict MCP.
type ReaderOptions struct {
	// Framer finds the frames; nil means LineFramer.
	Framer Framer
	// MaxFrame is the most bytes that a frame may have. 0 means DefaultMaxFrame;
	// negative, and whatever is above MostMaxFrame, mean MostMaxFrame.
	MaxFrame int
	// ChunkSize is the most bytes that are asked of the stream at once while
	// frames are short. Rounded up to a power of two from 512 to 4 MiB. 0 and
	// negative mean 64 KiB. A stream that has nothing to give waits in a buffer of
	// 4 KiB whatever the size here, so that idle connections stay small; a LazyReader
	// in none.
	ChunkSize int
	// Scan are the rules of ReadMessage. With an unknown profile it returns
	// ErrUnknownProfile for each frame.
	Scan ScanOptions
	// OneGoroutine promises that one goroutine makes all calls. The reader does not
	// look whether that is so, and never returns ErrConcurrentRead: two atomic
	// exchanges a frame are a twentieth of what a message costs that comes in a
	// burst.
	OneGoroutine bool
}

const (
	// DefaultMaxFrame is what ReaderOptions.MaxFrame = 0 stands for: 16 MiB.
	DefaultMaxFrame = 16 << 20
	// MostMaxFrame is the longest frame that can be asked for: 2 GiB less the
	// room for what stands around a frame, in an int of 32 bits.
	MostMaxFrame = 1<<31 - 1 - 8<<20

	defaultChunkSize = 64 << 10
	idleChunkSize    = 4 << 10
)

func (o ReaderOptions) withDefaults() ReaderOptions {
	if o.Framer == nil {
		o.Framer = LineFramer{}
	}
	if o.MaxFrame == 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	if o.MaxFrame < 0 || o.MaxFrame > MostMaxFrame {
		o.MaxFrame = MostMaxFrame
	}
	if o.ChunkSize <= 0 {
		o.ChunkSize = defaultChunkSize
	}
	if f, ok := o.Framer.(HeaderFramer); ok {
		o.ChunkSize = max(o.ChunkSize, f.maxHeader()+2*headroom) // one chunk beyond the maximum holds the headers
	}
	o.ChunkSize = chunk.Smallest << chunk.Class(min(o.ChunkSize, chunk.Largest))
	return o
}

// Reader cuts a byte stream into frames, and scans them. However the stream's
// reads split its bytes, the frames are the same.
//
// # Lifetime
//
// What a call gives is borrowed: it lasts until the next call of Next or
// ReadMessage. [Message.Retain] and [Message.Detach] make a message last.
//
// # Memory
//
// Frames are not copied: they lie where they were read, in pooled buffers. An
// announced size allocates nothing: a buffer grows in steps as bytes come, up to
// MaxFrame and one chunk (while it grows, the one that it leaves, at most half as
// long, lives beside it). In steady state nothing is allocated. A reader that
// came to its end keeps no buffer.
//
// # Errors
//
//   - io.EOF: the stream ended between two frames.
//   - io.ErrUnexpectedEOF: it ended inside one.
//   - *FrameError: no frame could be cut, see its Fatal.
//   - *SyntaxError and ErrBatch, of ReadMessage only.
//   - ErrConcurrentRead: another goroutine is in a call.
//   - io.ErrNoProgress: the stream gave no bytes and no error 100 times in a row.
//   - whatever the stream returned, as it is.
//
// After an error for which [Recoverable] is true the next call goes on behind
// the bad frame. io.EOF, io.ErrUnexpectedEOF and a fatal *FrameError come again
// at every later call. After other errors a call tries the stream again, with
// nothing lost.
//
// A Reader is for one goroutine at a time. Calls at once are no data race: all
// but one get ErrConcurrentRead (but see ReaderOptions.OneGoroutine).
type Reader struct {
	busy  atomic.Bool
	src   LazyReader
	eager eager // is src if that can do no more than read
	o     ReaderOptions

	chunk      *chunk.Chunk
	generation uint32 // of chunk
	start, end int    // chunk.B[start:end] was read and not consumed
	scanned    int    // bytes behind start in which no frame ends
	need       int    // bytes behind start that the frame will have, 0 unknown

	quickly  shortcut // may be tried now
	quickest shortcut // that the framer allows

	size     int  // of the next chunk
	skipping bool // bytes belong to a frame too large until Resync finds its end
	atEOF    bool
	srcErr   error // met behind chunk.B[:end]
	ended    error // comes at every call

	ahead    Cut // what Buffered cut before it was asked for
	aheadErr error
	isAhead  bool
}

// NewReader returns a reader of the frames of src. It reads nothing yet.
func NewReader(src io.Reader, o ReaderOptions) *Reader {
	o = o.withDefaults()
	r := &Reader{o: o, quickest: shortcutOf(o.Framer), size: min(o.ChunkSize, idleChunkSize)}
	if lazy, ok := src.(LazyReader); ok {
		r.src = lazy
	} else {
		r.eager.Reader = src
		r.src = &r.eager
	}
	return r
}

func (r *Reader) enter() bool { return r.o.OneGoroutine || !r.busy.Swap(true) }

func (r *Reader) leave() {
	if !r.o.OneGoroutine {
		r.busy.Store(false)
	}
}

// Next returns the next frame, never an empty one, borrowed until the next call.
// It does not look into the frame.
func (r *Reader) Next() ([]byte, error) {
	if !r.enter() {
		return nil, ErrConcurrentRead
	}
	if r.quickly == quickLine { // quick, written out: its call is a tenth of a short line
		data := r.chunk.B[r.start:r.end]
		if i := bytes.IndexByte(data, '\n'); uint(i-1) < uint(r.o.MaxFrame) && data[0] == '{' && data[i-1] != '\r' {
			r.start += i + 1
			r.lend(data[:i])
			r.leave()
			return data[:i:i], nil
		}
	}
	var err error
	frame := r.quick()
	if frame == nil {
		frame, err = r.next()
	}
	r.leave()
	return frame[:len(frame):len(frame)], err
}

// ReadMessage reads the next frame and scans it into m, which is borrowed until
// the next call. Beside a *SyntaxError or ErrBatch, m.Frame() is the frame, and
// m.RawID() its id if that could be read; beside other errors m is empty. What m
// held before is overwritten, a lease with it: hand on copies of what you retain.
func (r *Reader) ReadMessage(m *Message) error {
	if !r.enter() {
		return ErrConcurrentRead
	}
	var err error
	frame := r.quick()
	if frame == nil {
		frame, err = r.next()
	}
	if err != nil {
		*m = Message{}
	} else {
		m.frame, m.chunk, m.lease = frame, r.chunk, lease{generation: r.generation}
		err = Scan(frame, &m.Envelope, r.o.Scan)
	}
	r.leave()
	return err
}

// Buffered returns the length of the next frame if all of it was read already,
// so that the next call comes back without touching the stream; 0 if not. It
// leaves what is borrowed as it is. It tells a writer whether a burst goes on.
func (r *Reader) Buffered() int {
	if !r.enter() {
		return 0
	}
	defer r.leave()
	if r.ended != nil || r.skipping && !r.resync() {
		return 0
	}
	if !r.isAhead {
		r.ahead, r.aheadErr = r.cut()
		r.isAhead = r.ahead.Advance > 0 || r.aheadErr != nil
		r.quickly = notQuickly
	}
	if r.aheadErr != nil {
		return r.end - r.start
	}
	return r.ahead.End - r.ahead.Start
}

// next returns the next frame, with the capacity of its chunk.
func (r *Reader) next() ([]byte, error) {
	if r.chunk != nil {
		r.chunk.Audit.LendEnds()
	}
	if r.ended != nil {
		return nil, r.ended
	}
	for {
		if !r.skipping || r.resync() {
			cut, err := r.cut()
			if err != nil {
				return nil, r.refuse(cut, err)
			}
			if cut.Advance > 0 {
				frame := r.chunk.B[r.start+cut.Start : r.start+cut.End]
				r.start += cut.Advance
				r.lend(frame)
				r.quickly = r.quickest
				return frame, nil
			}
		}
		if err := r.fill(); err != nil {
			return nil, r.finish(err)
		}
	}
}

// lend notes, under the tag invariants, that frame is what the caller borrows now
// and that what it borrowed before is given back.
func (r *Reader) lend(frame []byte) {
	r.chunk.Audit.LendEnds()
	r.chunk.Audit.Lend(frame)
}

// cut looks for a frame in what was read. Advance is 0 when none is whole.
func (r *Reader) cut() (Cut, error) {
	if r.isAhead {
		r.isAhead = false
		return r.ahead, r.aheadErr
	}
	for r.start < r.end {
		data := r.chunk.B[r.start:r.end:r.end]
		if len(data) < r.need && !r.atEOF {
			break
		}
		cut, err := r.o.Framer.Cut(data, r.scanned, r.atEOF, r.o.MaxFrame)
		if uint(cut.Advance) > uint(len(data)) || uint(cut.End) > uint(len(data)) {
			panic("codec: a Framer cut beyond the data")
		}
		if err != nil {
			return cut, err
		}
		if cut.Advance == 0 {
			r.scanned, r.need = len(data), cut.Need
			break
		}
		r.scanned, r.need = 0, 0
		if cut.Start < cut.End {
			return cut, nil
		}
		r.start += cut.Advance
	}
	return Cut{}, nil
}

// refuse moves behind a frame that could not be cut, if that can be.
func (r *Reader) refuse(cut Cut, err error) error {
	r.quickly = notQuickly
	r.scanned, r.need = 0, 0
	bad, ok := errors.AsType[*FrameError](err)
	if !ok || bad.Fatal {
		return r.close(err)
	}
	if cut.Advance > 0 {
		r.start += cut.Advance
		return err
	}
	if _, ok := r.o.Framer.(Resyncer); !ok {
		fatal := *bad
		fatal.Fatal = true
		return r.close(&fatal)
	}
	r.skipping = true
	return err
}

// resync drops bytes of a frame too large. It reports whether its end was found.
func (r *Reader) resync() bool {
	if r.start == r.end {
		return false
	}
	n := r.o.Framer.(Resyncer).Resync(r.chunk.B[r.start:r.end:r.end])
	if n < 0 {
		r.start = r.end
		return false
	}
	r.start += n
	r.skipping = false
	return true
}
