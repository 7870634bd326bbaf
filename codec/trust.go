package codec

import "github.com/correlator-go/correlator/internal/vector"

// trusted goes to the end of the value at b[i] under TrustBody: brackets and quotes
// are followed, {} not told from [], and nothing else in it is looked at but raw
// newlines. One between the strings is flagged, one in a string is refused: a
// transport of lines would make two frames of one, and no compaction helps.
func (s *scanner) trusted(b []byte, i, depth int) (int, problem) {
	if i >= len(b) {
		return i, errTruncated
	}
	switch b[i] {
	case '{', '[':
		if s.engine == parallel && len(b)-i > vector.Block && depth < s.maxDepth {
			if end, newline, ok := vector.Cross(b[i+1:], s.maxDepth-depth); ok {
				if newline {
					s.e.Flags |= FlagNewline
				}
				return i + 1 + end, fine
			}
		}
		return s.cross(b, i, depth)
	case '"':
		return crossText(b, i+1)
	}
	return s.skip(b, i, depth)
}

// cross is the portable way through an object or array.
func (s *scanner) cross(b []byte, i, depth int) (int, problem) {
	outer, p := depth, fine
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			if i, p = crossText(b, i+1); p != fine {
				return i, p
			}
			continue
		case c|0x20 == '{':
			if depth++; depth > s.maxDepth {
				return i, errDeep
			}
		case c|0x20 == '}':
			if depth--; depth == outer {
				return i + 1, fine
			}
		case c == '\n' || c == '\r':
			s.e.Flags |= FlagNewline
		case c == '\\' && i+1 < len(b) && (b[i+1] == '"' || b[i+1] == '\\'):
			i++ // no place for it, but whoever wrote it meant this
		}
		i++
	}
	return i, errTruncated
}

// crossText goes to the end of the string whose text begins at b[i].
func crossText(b []byte, i int) (int, problem) {
	end := stringEnd(b, i)
	closed := end >= 0
	if !closed {
		end = len(b)
	}
	at := indexByte(b[i:end], '\n')
	if cr := indexByte(b[i:end], '\r'); cr >= 0 && (at < 0 || cr < at) {
		at = cr
	}
	switch {
	case at >= 0:
		return i + at, errControl
	case !closed:
		return end, errTruncated
	}
	return end, fine
}
