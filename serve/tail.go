package serve

import (
	"bytes"

	"github.com/correlator-go/correlator/codec"
)

// tailBytes is how much of the end of a line that is too long is kept: room for
// the longest id that is answered.
const tailBytes = 512

// tailFramer cuts lines and remembers how one ended that was too long. Some
// clients write the id last, and the beginning of such a line does not tell whom
// to answer. It belongs to one reader.
type tailFramer struct {
	codec.LineFramer
	tail    []byte
	skipped func(tail []byte) // called when the end of a line was reached
}

var (
	_ codec.Framer   = (*tailFramer)(nil)
	_ codec.Resyncer = (*tailFramer)(nil)
)

// Cut implements codec.Framer.
func (f *tailFramer) Cut(data []byte, scanned int, atEOF bool, maxFrame int) (codec.Cut, error) {
	cut, err := f.LineFramer.Cut(data, scanned, atEOF, maxFrame)
	if err != nil {
		f.tail = f.tail[:0]
		if cut.Advance > 0 { // all of the line is here
			f.keep(data[:cut.Advance])
		}
	}
	return cut, err
}

// Resync implements codec.Resyncer.
func (f *tailFramer) Resync(data []byte) int {
	n := f.LineFramer.Resync(data)
	if n < 0 {
		f.keep(data)
		return n
	}
	f.keep(data[:n])
	f.skipped(f.tail)
	return n
}

func (f *tailFramer) keep(data []byte) {
	data = data[max(0, len(data)-tailBytes):]
	if over := len(f.tail) + len(data) - tailBytes; over > 0 {
		f.tail = f.tail[:copy(f.tail, f.tail[over:])]
	}
	f.tail = append(f.tail, data...)
}

// tailID reads the id of a message of which only the end is at hand, if its member
// is the last. What stands before the last brace of a line is a member of the
// message itself, not of something in it; and a quote cannot stand before the
// name within a string.
func tailID(tail []byte) (codec.ID, bool) {
	b, ok := bytes.CutSuffix(bytes.TrimRight(tail, " \t\r\n"), []byte("}"))
	if !ok {
		return codec.ID{}, false
	}
	b = trimRight(b)
	start := valueStart(b)
	value := b[start:]
	b = trimRight(b[:start])
	if b, ok = bytes.CutSuffix(b, []byte(":")); !ok {
		return codec.ID{}, false
	}
	if b, ok = bytes.CutSuffix(trimRight(b), []byte(`"id"`)); !ok {
		return codec.ID{}, false
	}
	b = trimRight(b)
	if len(b) == 0 || b[len(b)-1] != ',' && b[len(b)-1] != '{' {
		return codec.ID{}, false
	}
	id, err := codec.ParseID(value, codec.MCP)
	return id, err == nil && id.Kind() != codec.IDNull
}

func trimRight(b []byte) []byte { return bytes.TrimRight(b, " \t\r\n") }

// valueStart is where the string or number begins that b ends with.
func valueStart(b []byte) int {
	if len(b) == 0 || b[len(b)-1] != '"' {
		i := len(b)
		for i > 0 && (b[i-1] >= '0' && b[i-1] <= '9' || b[i-1] == '-') {
			i--
		}
		return i
	}
	for i := len(b) - 2; i >= 0; i-- {
		if b[i] != '"' {
			continue
		}
		slashes := 0
		for i-1-slashes >= 0 && b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return 0
}
