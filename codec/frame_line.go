package codec

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/correlator-go/correlator/internal/vector"
)

// LineFramer delimits messages by newlines, as MCP over stdio does: one message
// a line, ended by LF or CR LF; the frame excludes both. A byte order mark at
// the beginning of any line is dropped, lines that hold nothing but blanks are
// skipped. A line that is too long is refused and skipped, the stream goes on.
//
// The last line of a stream may lack its newline if it holds a whole JSON text;
// else it was cut short and is io.ErrUnexpectedEOF.
type LineFramer struct{}

var (
	_ Framer   = LineFramer{}
	_ Resyncer = LineFramer{}

	_ RequestFramer = LineFramer{}
)

const (
	byteOrderMark = "\xef\xbb\xbf"
	// lineExtra is what a line whose end is not in sight may hold beside a frame
	// of the maximum: a mark and a CR.
	lineExtra = len(byteOrderMark) + 1
)

// Cut implements [Framer].
func (LineFramer) Cut(data []byte, scanned int, atEOF bool, maxFrame int) (Cut, error) {
	i := bytes.IndexByte(data[scanned:], '\n')
	if i < 0 {
		return cutOpenLine(data, atEOF, maxFrame)
	}
	i += scanned
	// What is sent most: the line begins with the message and ends in LF.
	if i > 0 && data[0] == '{' && data[i-1] != '\r' && i <= maxFrame {
		return Cut{End: i, Advance: i + 1}, nil
	}
	start, end := trimLine(data[:i])
	cut := Cut{Start: start, End: end, Advance: i + 1}
	if end-start > maxFrame {
		return Cut{Advance: cut.Advance}, longLine(data[start:], maxFrame)
	}
	if blank(data[start:end]) {
		cut.End = start
	}
	return cut, nil
}

// cutOpenLine decides about a line whose end is not in sight.
func cutOpenLine(data []byte, atEOF bool, maxFrame int) (Cut, error) {
	start, end := trimLine(data)
	switch {
	case len(data)-lineExtra > maxFrame, atEOF && end-start > maxFrame:
		return Cut{}, longLine(data[start:], maxFrame)
	case !atEOF:
		return Cut{}, nil
	case blank(data[start:end]):
		return Cut{Start: start, End: start, Advance: len(data)}, nil
	case !json.Valid(data[start:end]):
		return Cut{}, io.ErrUnexpectedEOF
	}
	return Cut{Start: start, End: end, Advance: len(data)}, nil
}

// longLine is the error for a line that holds more than maxFrame bytes. It says
// the same wherever the reads happened to split the line.
func longLine(line []byte, maxFrame int) error {
	return tooLarge(line[:maxFrame], 0, false)
}

// trimLine finds the line within its mark and its CR.
func trimLine(line []byte) (start, end int) {
	end = len(line)
	if bytes.HasPrefix(line, []byte(byteOrderMark)) {
		start = len(byteOrderMark)
	}
	if end > start && line[end-1] == '\r' {
		end--
	}
	return start, end
}

// blank reports whether b holds nothing but JSON whitespace.
func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// Resync implements [Resyncer]: the line that is skipped ends at the next LF.
func (LineFramer) Resync(data []byte) int {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

// Open implements [Framer]: nothing stands before a line.
func (LineFramer) Open(dst []byte) []byte { return dst }

// Seal implements [Framer]: it ends the line with LF. A raw LF or CR within the
// message, which can be nothing but whitespace in a valid JSON text, becomes a
// space, so that one message never arrives as two. Its error is ErrEmptyFrame.
func (LineFramer) Seal(dst []byte, start int) ([]byte, error) {
	message := dst[start:]
	if len(message) == 0 {
		return dst, emptyFrame()
	}
	for {
		i := vector.LineEnd(message)
		if i < 0 {
			return append(dst, '\n'), nil
		}
		message[i] = ' '
		message = message[i+1:]
	}
}

// AppendRequest implements [RequestFramer]: only params are looked at for the end of a
// line, and before they are copied. To read what has just been written costs more than
// to write it. It does not fail.
func (f LineFramer) AppendRequest(dst []byte, id ID, method string, params []byte) ([]byte, error) {
	start := len(dst)
	dst = AppendRequest(dst, id, method, params)
	if vector.LineEnd(params) >= 0 {
		return f.Seal(dst, start) // never empty
	}
	return append(dst, '\n'), nil
}
