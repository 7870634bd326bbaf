package websocket

import (
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/correlator-go/correlator/codec"
)

// end is behind each message in the byte stream that a Stream makes of them. It
// cannot occur in UTF-8.
const end = 0xff

// byteOrderMark is dropped where a message begins, as in every other framing.
const byteOrderMark = "\xef\xbb\xbf"

// Framer tells the messages of a [Stream] apart. It is for conn.Options.Framer.
//
// Seal makes the message valid UTF-8, which a text message has to be: a peer may
// end the link over one that is not. Bytes that belong to no character become
// question marks.
type Framer struct{}

var (
	_ codec.Framer   = Framer{}
	_ codec.Resyncer = Framer{}

	_ codec.RequestFramer = Framer{}
)

// Cut implements codec.Framer.
func (Framer) Cut(data []byte, scanned int, atEOF bool, maxFrame int) (codec.Cut, error) {
	start := 0
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		start = len(byteOrderMark)
	}
	i := bytes.IndexByte(data[scanned:], end)
	if i < 0 {
		switch {
		case len(data)-start > maxFrame:
			return codec.Cut{}, tooLarge(data[start:], maxFrame)
		case atEOF && len(data) > 0:
			return codec.Cut{}, io.ErrUnexpectedEOF
		}
		return codec.Cut{}, nil
	}
	i += scanned
	if i-start > maxFrame {
		return codec.Cut{Advance: i + 1}, tooLarge(data[start:i], maxFrame)
	}
	return codec.Cut{Start: start, End: i, Advance: i + 1}, nil
}

func tooLarge(begin []byte, maxFrame int) *codec.FrameError {
	return &codec.FrameError{Err: codec.ErrFrameTooLarge, Prefix: bytes.Clone(begin[:min(len(begin), maxFrame, codec.FramePrefix)])}
}

// Resync implements codec.Resyncer: the message that is skipped goes to its end.
func (Framer) Resync(data []byte) int {
	if i := bytes.IndexByte(data, end); i >= 0 {
		return i + 1
	}
	return -1
}

// Open implements codec.Framer: nothing stands before a message.
func (Framer) Open(dst []byte) []byte { return dst }

// Seal implements codec.Framer. Its error is a *codec.FrameError for an empty
// message.
func (Framer) Seal(dst []byte, start int) ([]byte, error) {
	message := dst[start:]
	if len(message) == 0 {
		return codec.LineFramer{}.Seal(dst, start) // for its error
	}
	if !utf8.Valid(message) {
		mend(message)
	}
	return append(dst, end), nil
}

// AppendRequest implements codec.RequestFramer: of a request only params can be no
// UTF-8. It does not fail.
func (Framer) AppendRequest(dst []byte, id codec.ID, method string, params []byte) ([]byte, error) {
	start := len(dst)
	dst = codec.AppendRequest(dst, id, method, params)
	if !utf8.Valid(params) {
		mend(dst[start:])
	}
	return append(dst, end), nil
}

// mend replaces what is no UTF-8.
func mend(message []byte) {
	for i := 0; i < len(message); {
		r, size := utf8.DecodeRune(message[i:])
		if r == utf8.RuneError && size == 1 {
			message[i] = '?'
		}
		i += size
	}
}
