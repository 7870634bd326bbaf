package codec

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// LengthFramer puts the length of a message before it, as four bytes, the most
// significant first. A length of 0 is skipped, a byte order mark before a message
// dropped. Nothing is allocated for a length
// that was only announced. One beyond the maximum ends the stream.
type LengthFramer struct{}

var _ Framer = LengthFramer{}

const lengthBytes = 4

// Cut implements [Framer].
func (LengthFramer) Cut(data []byte, _ int, atEOF bool, maxFrame int) (Cut, error) {
	if len(data) < lengthBytes {
		return cutShort(lengthBytes, atEOF)
	}
	size := binary.BigEndian.Uint32(data)
	if uint64(size) > uint64(maxFrame) {
		return Cut{}, tooLarge(data[lengthBytes:], uint64(size), true)
	}
	end := lengthBytes + int(size)
	if len(data) < end {
		return cutShort(end, atEOF)
	}
	start := lengthBytes
	if bytes.HasPrefix(data[start:end], []byte(byteOrderMark)) {
		start += len(byteOrderMark)
	}
	return Cut{Start: start, End: end, Advance: end}, nil
}

// cutShort asks for need bytes, or says that they will not come.
func cutShort(need int, atEOF bool) (Cut, error) {
	if atEOF {
		return Cut{}, io.ErrUnexpectedEOF
	}
	return Cut{Need: need}, nil
}

// Open implements [Framer]: it makes room for the length.
func (LengthFramer) Open(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

// Seal implements [Framer]: it writes the length. Its errors are ErrEmptyFrame,
// and ErrFrameTooLarge for a message of 4 GiB and more.
func (LengthFramer) Seal(dst []byte, start int) ([]byte, error) {
	size := len(dst) - start - lengthBytes
	if size <= 0 {
		return dst[:start], emptyFrame()
	}
	if uint64(size) > math.MaxUint32 {
		return dst[:start], tooLarge(dst[start+lengthBytes:], uint64(size), false)
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(size))
	return dst, nil
}
