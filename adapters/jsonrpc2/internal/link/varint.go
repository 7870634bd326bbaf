package link

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/correlator-go/correlator/codec"
)

// Varint puts the length of a message before it, as an unsigned varint of
// encoding/binary. A length of 0 is skipped; one beyond the maximum ends the
// stream. Nothing is allocated for a length that was only announced.
type Varint struct{}

var _ codec.Framer = Varint{}

// room is what Open leaves for the length: that of a message of 128 to 16,383
// bytes, which Seal then need not move.
const room = 2

// Cut implements codec.Framer.
func (Varint) Cut(data []byte, _ int, atEOF bool, maxFrame int) (codec.Cut, error) {
	size, n := binary.Uvarint(data)
	switch {
	case n < 0:
		return codec.Cut{}, &codec.FrameError{Err: codec.ErrBadHeader, Problem: "a length beyond 64 bits", Size: math.MaxUint64, Fatal: true}
	case n > 0 && size > uint64(maxFrame):
		return codec.Cut{}, tooLarge(data[n:], size)
	case n == 0 && !atEOF:
		return codec.Cut{}, nil
	case n == 0 || atEOF && uint64(len(data)-n) < size:
		return codec.Cut{}, io.ErrUnexpectedEOF
	}
	end := n + int(size)
	if len(data) < end {
		return codec.Cut{Need: end}, nil
	}
	return codec.Cut{Start: n, End: end, Advance: end}, nil
}

// Open implements codec.Framer.
func (Varint) Open(dst []byte) []byte { return append(dst, 0, 0) }

// Seal implements codec.Framer. Its error is codec.ErrEmptyFrame.
func (Varint) Seal(dst []byte, start int) ([]byte, error) {
	size := len(dst) - start - room
	if size <= 0 {
		return dst[:start], &codec.FrameError{Err: codec.ErrEmptyFrame}
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	if n > room {
		dst = append(dst, length[:n-room]...)
	}
	if n != room {
		copy(dst[start+n:], dst[start+room:start+room+size])
		dst = dst[:start+n+size]
	}
	copy(dst[start:], length[:n])
	return dst, nil
}

// tooLarge ends the stream. beginning is what there is of the frame.
func tooLarge(beginning []byte, size uint64) error {
	prefix := append([]byte(nil), beginning[:min(len(beginning), codec.FramePrefix)]...)
	return &codec.FrameError{Err: codec.ErrFrameTooLarge, Prefix: prefix, Size: size, Fatal: true}
}
