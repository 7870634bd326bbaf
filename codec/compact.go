package codec

import "bytes"

// AppendCompact appends frame to dst without the whitespace between its tokens,
// so that it is one line: what [FlagNewline] frames need before they enter a
// newline-delimited transport. Nothing else changes. frame must be valid JSON.
// dst may be frame[:0], which compacts in place.
func AppendCompact(dst, frame []byte) []byte {
	start := 0
	for i := 0; i < len(frame); {
		switch frame[i] {
		case '"':
			if i = stringEnd(frame, i+1); i < 0 {
				i = len(frame)
			}
		case ' ', '\t', '\n', '\r':
			dst = append(dst, frame[start:i]...)
			for i++; i < len(frame) && isSpace(frame[i]); i++ {
			}
			start = i
		default:
			i++
		}
	}
	return append(dst, frame[start:]...)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// stringEnd returns the index behind the quote that closes the string whose text
// begins at i, the first one with an even number of backslashes before it; -1
// when there is none.
func stringEnd(b []byte, i int) int {
	for start := i; ; {
		n := indexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n + 1
		k := i - 1
		for k > start && b[k-1] == '\\' {
			k--
		}
		if (i-1-k)&1 == 0 {
			return i
		}
	}
}

// indexByte is bytes.IndexByte in parts: the assembly below that cannot be preempted,
// and a text of many MiB would keep the collector waiting.
func indexByte(b []byte, c byte) int {
	const most = 256 << 10
	for at := 0; ; at += most {
		part := b[at:min(len(b), at+most)]
		if n := bytes.IndexByte(part, c); n >= 0 {
			return at + n
		}
		if len(part) < most {
			return -1
		}
	}
}
