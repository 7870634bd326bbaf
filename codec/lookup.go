package codec

import "math"

// validText reports whether text is one JSON value without space around it.
func validText(text []byte) bool {
	s := scanner{e: new(Envelope), maxDepth: math.MaxInt}
	end, p := s.skip(text, 0, 0)
	return !p.bad() && end == len(text) && text[0] > ' '
}

// readMembers finds the named members of a JSON object, off the hot path: for
// each name the JSON text of the last member called so, nil where there is none.
// It is false when text is no JSON object.
func readMembers(text []byte, names ...string) ([][]byte, bool) {
	s := scanner{e: new(Envelope), maxDepth: math.MaxInt}
	i := s.space(text, 0)
	end, p := s.skip(text, i, 0)
	if p.bad() || s.space(text, end) < len(text) || text[i] != '{' {
		return nil, false
	}
	values := make([][]byte, len(names))
	for i = s.space(text, i+1); text[i] != '}'; {
		start, next, p := s.key(text, i)
		var buf [maxKey + 1]byte
		name := plain(text[start:next-1], p, &buf)
		i, _ = s.colon(text, next)
		i = s.space(text, i)
		end, _ = s.skip(text, i, 0)
		for k := range names {
			if string(name) == names[k] {
				values[k] = text[i:end:end]
			}
		}
		if i = s.space(text, end); text[i] == ',' {
			i = s.space(text, i+1)
		}
	}
	return values, true
}
