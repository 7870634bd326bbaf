package codec

import (
	"bytes"
	"encoding/binary"
)

// shortcut says which framing's whole frames the reader cuts by itself. What a
// Framer says in five words and an interface call is most of the time of a short
// frame, and nearly all frames are as simple as can be.
type shortcut uint8

const (
	notQuickly shortcut = iota
	quickLine
	quickLength
	quickHeader
)

func shortcutOf(f Framer) shortcut {
	switch f.(type) {
	case LineFramer:
		return quickLine
	case LengthFramer:
		return quickLength
	case HeaderFramer:
		return quickHeader
	}
	return notQuickly
}

// quick returns the next frame if all of it is there and nothing about it is
// unusual, exactly as next would; else nil, and nothing is changed.
func (r *Reader) quick() []byte {
	if r.quickly == notQuickly {
		return nil
	}
	data := r.chunk.B[r.start:r.end]
	start, end, advance := 0, 0, 0
	switch r.quickly {
	case quickLine:
		i := bytes.IndexByte(data, '\n')
		if uint(i-1) >= uint(r.o.MaxFrame) || data[0] != '{' || data[i-1] == '\r' {
			return nil // none, an empty one, a long one, an unusual one
		}
		end, advance = i, i+1
	case quickLength:
		start = lengthBytes
		end = cutQuickLength(data, r.o.MaxFrame)
		advance = end
	case quickHeader:
		start, end = cutQuickHeader(data, r.o.MaxFrame)
		advance = end
	}
	if end == 0 {
		return nil
	}
	r.start += advance
	r.lend(data[start:end])
	return data[start:end]
}

// cutQuickLength finds the end of a whole frame, or 0.
func cutQuickLength(data []byte, maxFrame int) int {
	if len(data) < lengthBytes {
		return 0
	}
	size := uint64(binary.BigEndian.Uint32(data))
	if size == 0 || size > uint64(maxFrame) || size > uint64(len(data)-lengthBytes) || data[lengthBytes] == byteOrderMark[0] {
		return 0
	}
	return lengthBytes + int(size)
}

// cutQuickHeader finds a whole frame whose header is as Seal writes it: one line,
// in the usual letters, of at most seven digits. It returns 0, 0 for all others.
func cutQuickHeader(data []byte, maxFrame int) (start, end int) {
	const prefix, most = lengthHeader + ": ", 7
	if len(data) < len(prefix)+most+4 || string(data[:len(prefix)]) != prefix {
		return 0, 0
	}
	size, at := 0, len(prefix)
	for ; at < len(prefix)+most && data[at]-'0' <= 9; at++ {
		size = size*10 + int(data[at]-'0')
	}
	start = at + 4
	if at == len(prefix) || size == 0 || size > maxFrame || string(data[at:start]) != "\r\n\r\n" ||
		size > len(data)-start || data[start] == byteOrderMark[0] {
		return 0, 0
	}
	return start, start + size
}
