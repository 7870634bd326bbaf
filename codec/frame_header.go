package codec

import (
	"bytes"
	"io"
	"math"
	"strconv"
)

// HeaderFramer puts header lines before a message, as the Language Server
// Protocol does:
//
//	Content-Length: 38\r\n
//	\r\n
//	{"jsonrpc":"2.0","id":2,"result":true}
//
// Content-Length counts bytes, is required, and is digits only; one that repeats
// must repeat its value.
// Other headers (Content-Type) are read over. Names match without regard to
// case; lines may end in LF alone. A byte order mark before the headers or before
// the message is dropped, and so are line ends before the headers. A length of 0
// is skipped. A header that cannot be read, or announces more than the maximum,
// ends the stream. Nothing is allocated for a length that was only announced.
type HeaderFramer struct {
	// MaxHeader is how many bytes the headers of one message may have, their last
	// empty line included. 0 means DefaultMaxHeader; less than 64 means 64;
	// negative and whatever is above 64 KiB mean 64 KiB.
	MaxHeader int
}

// DefaultMaxHeader is what HeaderFramer.MaxHeader = 0 stands for, in bytes.
const DefaultMaxHeader = 4 << 10

const (
	mostMaxHeader  = 64 << 10
	leastMaxHeader = 64 // a plain header fits, so that the reader's shortcut needs no look at the limit
	lengthHeader   = "Content-Length"
	// sealedHeader is what Open makes room for: the header of a message of four
	// digits' length, which Seal then need not move.
	sealedHeader = lengthHeader + ": 0000\r\n\r\n"
)

var _ Framer = HeaderFramer{}

func (f HeaderFramer) maxHeader() int {
	if f.MaxHeader == 0 {
		return DefaultMaxHeader
	}
	if f.MaxHeader < 0 {
		return mostMaxHeader
	}
	return min(max(f.MaxHeader, leastMaxHeader), mostMaxHeader)
}

// Cut implements [Framer].
func (f HeaderFramer) Cut(data []byte, _ int, atEOF bool, maxFrame int) (Cut, error) {
	if skip := headerJunk(data); skip > 0 {
		return Cut{Start: skip, End: skip, Advance: skip}, nil
	}
	head, ok := headerEnd(data[:min(len(data), f.maxHeader())])
	if !ok {
		if len(data) >= f.maxHeader() {
			return Cut{}, badHeader("no end within the maximum")
		}
		if atEOF && len(data) > 0 {
			return Cut{}, io.ErrUnexpectedEOF
		}
		return Cut{}, nil
	}
	size, err := contentLength(data[:head])
	if err != nil {
		return Cut{}, err
	}
	if size > uint64(maxFrame) {
		return Cut{}, tooLarge(data[head:], size, true)
	}
	end := head + int(size)
	if len(data) < end {
		return cutShort(end, atEOF)
	}
	start := head
	if bytes.HasPrefix(data[head:end], []byte(byteOrderMark)) {
		start += len(byteOrderMark)
	}
	return Cut{Start: start, End: end, Advance: end}, nil
}

// headerJunk counts the bytes before a header that are read over: line ends, and
// a whole mark.
func headerJunk(data []byte) int {
	n := 0
	for n < len(data) && (data[n] == '\r' || data[n] == '\n') {
		n++
	}
	if bytes.HasPrefix(data[n:], []byte(byteOrderMark)) {
		n += len(byteOrderMark)
	}
	return n
}

// headerEnd finds the byte behind the empty line that ends the headers.
func headerEnd(data []byte) (int, bool) {
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return 0, false
		}
		at += i + 1
		switch rest := data[at:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return at + 1, true
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return at + 2, true
		}
	}
}

// contentLength reads the announced length from the header lines, which end in
// LF each. A number beyond 64 bits comes back as math.MaxUint64.
func contentLength(head []byte) (uint64, error) {
	size, found := uint64(0), false
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		head = rest
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok {
			return 0, badHeader("a line without a colon")
		}
		if !isLengthHeader(name) {
			continue
		}
		n, ok := announced(bytes.Trim(value, " \t"))
		if !ok {
			return 0, badHeader("Content-Length is not a number of bytes")
		}
		if found && n != size {
			return 0, badHeader("two values of Content-Length")
		}
		size, found = n, true
	}
	if !found {
		return 0, badHeader("no Content-Length")
	}
	return size, nil
}

func isLengthHeader(name []byte) bool {
	return len(name) == len(lengthHeader) && (string(name) == lengthHeader || bytes.EqualFold(name, []byte(lengthHeader)))
}

// announced reads digits, and nothing but digits; too many of them saturate.
func announced(digits []byte) (n uint64, ok bool) {
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		if d := uint64(c - '0'); n > (math.MaxUint64-d)/10 {
			n = math.MaxUint64
		} else {
			n = n*10 + d
		}
	}
	return n, len(digits) > 0
}

// Open implements [Framer]: it makes room for the header.
func (HeaderFramer) Open(dst []byte) []byte { return append(dst, sealedHeader...) }

// Seal implements [Framer]: it writes the header, with the length in bytes. A
// message outside 1,000 to 9,999 bytes is moved by the few bytes that its header
// is shorter or longer than the room. Its error is ErrEmptyFrame.
func (HeaderFramer) Seal(dst []byte, start int) ([]byte, error) {
	at := start + len(sealedHeader)
	size := len(dst) - at
	if size <= 0 {
		return dst[:start], emptyFrame()
	}
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], int64(size), 10)
	switch by := len(number) - 4; {
	case by < 0:
		copy(dst[at+by:], dst[at:])
		dst = dst[:len(dst)+by]
	case by > 0:
		dst = append(dst, digits[:by]...)
		copy(dst[at+by:], dst[at:len(dst)-by])
	}
	head := append(dst[:start], lengthHeader+": "...)
	head = append(head, number...)
	_ = append(head, "\r\n\r\n"...)
	return dst, nil
}
