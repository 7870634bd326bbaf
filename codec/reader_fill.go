package codec

import (
	"errors"
	"io"

	"github.com/correlator-go/correlator/internal/chunk"
)

// emptyReads is how often the stream may give nothing, without an error, before
// a call gives up.
const emptyReads = 100

// fill reads from the stream once, behind what is there. Its error is the
// stream's, given only after all bytes before it were looked at.
func (r *Reader) fill() error {
	if err := r.srcErr; err != nil {
		if !r.atEOF {
			r.srcErr = nil
		}
		return err
	}
	if r.start < r.end && !r.makeRoom() {
		return tooLarge(r.chunk.B[r.start:r.end], 0, true)
	}
	for range emptyReads {
		n, err := r.src.ReadLazily((*lender)(r))
		if n < 0 || n > 0 && (r.chunk == nil || n > len(r.chunk.B)-r.end) {
			panic("codec: the stream's Read returned an impossible count")
		}
		if err != nil {
			r.srcErr, r.atEOF = err, errors.Is(err, io.EOF)
		}
		if n > 0 {
			r.end += n
			r.adapt(r.end == len(r.chunk.B))
			return nil
		}
		if err != nil {
			return nil // the framer decides once more, told of the end
		}
	}
	return io.ErrNoProgress
}

// adapt chooses the size of the next chunk. A read that filled its room says
// that more is waiting. One that did not has emptied the stream, and the next one
// is likely to wait, perhaps for hours: it shall do so in a small chunk.
func (r *Reader) adapt(filled bool) {
	if filled {
		r.size = min(4*max(r.size, idleChunkSize), r.o.ChunkSize)
	} else {
		r.size = min(idleChunkSize, r.o.ChunkSize)
	}
}

// finish turns what fill returned into what the caller gets.
func (r *Reader) finish(err error) error {
	switch bad, _ := errors.AsType[*FrameError](err); {
	case bad != nil:
		return r.close(err)
	case !r.atEOF:
		return err
	case r.start < r.end || r.skipping:
		return r.close(io.ErrUnexpectedEOF)
	}
	return r.close(io.EOF)
}

// close ends the reader with err for ever, and gives its chunk back.
func (r *Reader) close(err error) error {
	r.ended, r.quickly = err, notQuickly
	r.drop()
	r.start, r.end = 0, 0
	return err
}

func (r *Reader) drop() {
	if r.chunk != nil {
		r.chunk.Release(r.generation)
		r.chunk = nil
	}
}

// makeRoom sees to it that bytes can be read at chunk.B[end:], with what was read
// and not consumed right before it. False: the frame is beyond all bounds.
func (r *Reader) makeRoom() bool {
	c, have := r.chunk, r.end-r.start
	if c == nil {
		r.move(r.size)
		return true
	}
	length, tail := len(c.B), len(c.B)-r.end
	if have == 0 {
		switch {
		case length != r.size:
			r.move(r.size)
		case c.Sole():
			r.start, r.end = headroom, headroom
		case tail < length/4:
			r.move(r.size)
		}
		return true
	}
	fits := r.need > 0 && r.start+r.need <= length
	switch {
	case headroom+have >= length: // the frame fills the chunk
		return r.grow(have)
	case length < r.size:
		r.move(r.size)
	case length > r.o.ChunkSize && r.need <= length/8 && have <= length/8:
		r.move(max(r.size, headroom+2*have)) // a large frame lay here
	case fits, r.need == 0 && tail >= length/2, r.start == headroom:
	case c.Sole():
		copy(c.B[headroom:], c.B[r.start:r.end])
		r.start, r.end = headroom, headroom+have
	case r.need > 0 || tail < length/4:
		r.move(max(r.size, headroom+2*have))
	}
	return true
}

// grow moves the beginning of a frame, have bytes, to a longer chunk: twice as
// long, or up to four times where the length was announced, so that a peer must
// send in earnest what it announced before memory is spent on it.
func (r *Reader) grow(have int) bool {
	room := int64(r.o.MaxFrame) + int64(r.o.ChunkSize) - headroom
	step := 2 * int64(have)
	if r.need > 0 {
		step = min(2*step, int64(r.need))
	}
	if step = min(step, room); step <= int64(have) {
		return false
	}
	r.move(headroom + int(step))
	return true
}

// move takes a chunk of at least size bytes and copies there what was read and
// not consumed.
func (r *Reader) move(size int) {
	old, data := r.chunk, []byte(nil)
	if old != nil {
		data = old.B[r.start:r.end]
	}
	c := chunk.Get(size, r.o.MaxFrame+r.o.ChunkSize)
	r.start, r.end = headroom, headroom+copy(c.B[headroom:], data)
	r.drop()
	r.chunk, r.generation = c, c.Generation()
}
