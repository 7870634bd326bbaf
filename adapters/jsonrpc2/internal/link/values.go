package link

import (
	"bytes"
	"io"

	"github.com/correlator-go/correlator/codec"
)

// Values finds JSON objects and arrays that follow each other, as a json.Decoder
// does: on lines, over several lines, or with nothing between them. What it writes
// are lines.
//
// What is no JSON is dropped up to the end of its line, and the stream goes on
// behind that. It is noticed by its brackets, by a newline in a string, and by a
// value that follows another without a comma: so a message that was cut short just
// where a value belongs is noticed only with the next message but one. A frame
// above the maximum ends the stream.
//
// A Values remembers how far it has looked, so each connection needs its own.
type Values struct {
	seen   int  // how many bytes of what is not finished were looked at
	scan   scan // what was found in them
	broken bool // no value: the end of its line is looked for
}

var _ codec.Framer = (*Values)(nil)

// scan is the state between two bytes of a value.
type scan struct {
	braces, brackets int  // open ones
	quoted           bool // inside a string
	escaped          bool // behind a backslash
	last             byte // of the text outside strings that is no space; 0 at the beginning
}

// Cut implements codec.Framer.
func (v *Values) Cut(data []byte, scanned int, atEOF bool, maxFrame int) (codec.Cut, error) {
	if skip := blanks(data); skip > 0 {
		return codec.Cut{Start: skip, End: skip, Advance: skip}, nil
	}
	if len(data) == 0 {
		return codec.Cut{}, nil
	}
	if scanned == 0 || scanned != v.seen {
		*v = Values{}
	}
	if !v.broken {
		end, sound := 0, data[0] == '{' || data[0] == '['
		if sound {
			end, sound = v.scan.run(data[v.seen:max(v.seen, min(len(data), maxFrame+1))])
			end += v.seen
		}
		if sound && v.scan.open() {
			return v.more(data, atEOF, maxFrame)
		}
		if sound {
			return v.cut(data, end, end, maxFrame)
		}
		v.broken, v.seen = true, 0
	}
	if i := bytes.IndexByte(data[v.seen:], '\n'); i >= 0 {
		return v.cut(data, v.seen+i, v.seen+i+1, maxFrame)
	}
	return v.more(data, atEOF, maxFrame)
}

// cut is the frame data[:end].
func (v *Values) cut(data []byte, end, advance, maxFrame int) (codec.Cut, error) {
	if end > maxFrame {
		return codec.Cut{}, tooLarge(data, 0)
	}
	*v = Values{}
	return codec.Cut{End: end, Advance: advance + blanks(data[advance:])}, nil
}

// more asks for more bytes.
func (v *Values) more(data []byte, atEOF bool, maxFrame int) (codec.Cut, error) {
	switch {
	case len(data) > maxFrame:
		return codec.Cut{}, tooLarge(data, 0)
	case atEOF:
		return codec.Cut{}, io.ErrUnexpectedEOF
	}
	v.seen = len(data)
	return codec.Cut{}, nil
}

// open reports whether the value goes on.
func (s *scan) open() bool { return s.braces > 0 || s.brackets > 0 }

// run goes on to the end of the value, or of data. It returns how many bytes of
// data belong to the value, and false when it can be none.
func (s *scan) run(data []byte) (n int, sound bool) {
	for i, c := range data {
		if s.quoted {
			switch {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '"':
				s.quoted = false
			case c == '\n':
				return i, false
			}
			continue
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"', '{', '[':
			if s.last != 0 && s.last != '{' && s.last != '[' && s.last != ',' && s.last != ':' {
				return i, false
			}
			switch c {
			case '"':
				s.quoted = true
			case '{':
				s.braces++
			default:
				s.brackets++
			}
		case '}':
			s.braces--
		case ']':
			s.brackets--
		}
		s.last = c
		switch {
		case s.braces < 0 || s.brackets < 0:
			return i, false
		case s.braces == 0 && s.brackets == 0:
			return i + 1, true
		}
	}
	return len(data), true
}

// blanks counts the bytes before a value that are read over: white space and byte
// order marks.
func blanks(data []byte) int {
	n := 0
	for n < len(data) {
		switch c := data[n]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			n++
		case bytes.HasPrefix(data[n:], []byte("\xef\xbb\xbf")):
			n += 3
		default:
			return n
		}
	}
	return n
}

// Open implements codec.Framer.
func (*Values) Open(dst []byte) []byte { return codec.LineFramer{}.Open(dst) }

// Seal implements codec.Framer. Its error is codec.ErrEmptyFrame.
func (*Values) Seal(dst []byte, start int) ([]byte, error) {
	return codec.LineFramer{}.Seal(dst, start)
}
