package codec

import (
	"encoding/binary"

	"github.com/correlator-go/correlator/internal/invariants"
)

// opening reads the way most messages begin, {"jsonrpc":"2.0","id": and an id of
// digits, into *e. It returns the index behind what it knew and which members these
// were, at least the version; 0 if the message begins in any other way.
func opening(b []byte, e *Envelope) (int, uint8) {
	const version = len(`{"jsonrpc":"2.0"`)
	if len(b) <= 32 || b[0] != '{' || load64(b, 1) != opening0 || load64(b, 9) != opening1 {
		return 0, 0
	}
	if load64(b, version-2) == opening2 {
		if at := plainID(b, version+len(`,"id":`), e); at > 0 {
			return at, sawVersion | sawID
		}
	}
	return version, sawVersion
}

// atResult reports whether a result follows b[:at], and its value, all without space.
func atResult(b []byte, at int) bool {
	return at > 0 && at < len(b)-len(thenResult) && binary.LittleEndian.Uint16(b[at:]) == ','|'"'<<8 && load64(b, at+2) == keyResult && b[at+len(thenResult)] > ' '
}

// shortAnswer is Scan for the frame that is received most: behind the opening, which
// ends before at, stands a result of one token and nothing else. To set up a scanner
// costs such a frame more than its bytes do. It reports false, with nothing in *e
// changed, where the frame is any other.
func shortAnswer(b []byte, at int, e *Envelope) bool {
	if !atResult(b, at) {
		return false
	}
	v, end := at+len(thenResult), len(b)-1
	if v >= end || b[end] != '}' || !isToken(b, v, end) {
		return false
	}
	e.Result, e.Kind = Span{uint32(v), uint32(end)}, KindResult
	if invariants.Enabled {
		(&scanner{e: e, seen: sawVersion | sawID | sawResult}).check(b)
	}
	return true
}

// longToken is how many bytes isToken looks at: vectors are faster with more.
const longToken = 128

// isToken reports whether b[v:end], which is not empty and before which b holds eight
// bytes, is a literal, a number, a string of plain ASCII, {} or []. What it says no
// to may still be JSON.
func isToken(b []byte, v, end int) bool {
	n := end - v
	w := load64(b, end-8)
	if n > 8 {
		return n <= longToken && b[v] == '"' && firstMark(specials(w)) == 7 && b[end-1] == '"' && isPlain(b, v+1, end-8)
	}
	w >>= 64 - 8*uint(n) // the value, and zeros behind it
	switch c := byte(w); {
	case c == '"':
		return firstMark(specials(w>>8)) == n-2 && b[end-1] == '"'
	case c-'0' <= 9 || c == '-':
		if c > '0' && firstMark(nondigits(w)) == n {
			return true
		}
		i, p := number(b, v)
		return p == fine && i == end
	}
	switch n { // a zero in the text is none of those behind it
	case 2:
		return w == '{'|'}'<<8 || w == '['|']'<<8
	case 4:
		return w == wordTrue || w == wordNull
	case 5:
		return w == 'f'|wordAlse<<8
	}
	return false
}

// isPlain reports whether no byte of b[i:end], or of the seven behind it, wants a
// closer look in a string.
func isPlain(b []byte, i, end int) bool {
	for ; i < end; i += 8 {
		if specials(load64(b, i)) != 0 {
			return false
		}
	}
	return true
}
