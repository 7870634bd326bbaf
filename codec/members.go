package codec

// version validates the value of jsonrpc that is not written "2.0" plainly.
func (s *scanner) version(b []byte, i int) (int, problem) {
	end, p := s.skip(b, i, 1)
	if p.bad() {
		return end, p
	}
	var buf [maxKey + 1]byte
	if b[i] != '"' || string(plain(b[i+1:end-1], escaped, &buf)) != "2.0" {
		s.blame(errVersion, i)
	}
	return end, fine
}

// id validates the id and notes it, in every form that the profile allows. A
// number is noted only once something stands behind it, so that a frame that is
// cut in its digits never shows a shorter one.
func (s *scanner) id(b []byte, i int) (int, problem) {
	if end := plainID(b, i, s.e); end > 0 {
		return end, fine
	}
	e, start := s.e, i
	i, p := s.skip(b, i, 1)
	if p.bad() {
		return i, p
	}
	if i >= len(b) {
		return i, errTruncated
	}
	kind, n, q := classifyID(b[start:i], s.profile)
	if q != fine {
		s.blame(q, start)
		return i, fine
	}
	e.RawID, e.IDKind, e.IntID = Span{uint32(start), uint32(i)}, kind, n
	return i, fine
}

// plainID notes an id of one to sixteen digits, the usual kind, and returns the
// index behind it; 0 for any other. Ids that this module mints, of 52 bits, are
// among them.
func plainID(b []byte, i int, e *Envelope) int {
	w := window(b, i)
	n := firstMark(nondigits(w))
	if n == 0 {
		return 0
	}
	end, id := i+n, eightDigits(w, n)
	if n == 8 && end < len(b) {
		w = window(b, end)
		if m := firstMark(nondigits(w)); m > 0 {
			end, id = end+m, id*tens[m]+eightDigits(w, m)
		}
	}
	if end < len(b) && (b[end] == ',' || b[end] == '}') && (b[i] != '0' || n == 1) {
		e.IntID, e.IDKind, e.RawID = id, IDInt, Span{uint32(i), uint32(end)}
		return end
	}
	return 0
}

var tens = [9]int64{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000}

// eightDigits is the value of the n digits, 1 to 8, that w begins with: moved to
// the end of the word, where the bytes before them count as zeros, and added up
// in pairs, fours and eights.
func eightDigits(w uint64, n int) int64 {
	w = (w ^ '0'*ones) << ((64 - 8*uint(n)) & 63)
	w = w*10 + w>>8
	w = ((w & 0x000000FF000000FF * 0x000F424000000064) + (w >> 16 & 0x000000FF000000FF * 0x0000271000000001)) >> 32
	return int64(w)
}

// method validates the method's name and notes it.
func (s *scanner) method(b []byte, i int) (int, problem) {
	if b[i] != '"' {
		end, p := s.skip(b, i, 1)
		s.blame(errMethod, i)
		return end, p
	}
	end, p := s.str(b, i+1)
	if p.bad() {
		return end, p
	}
	if p == escaped {
		s.e.Flags |= FlagMethodEscaped
	}
	s.e.Method = Span{uint32(i + 1), uint32(end - 1)}
	return end, fine
}

// params validates the parameters and notes what is in them.
func (s *scanner) params(b []byte, i int) (int, problem) {
	var end int
	var p problem
	switch c := b[i]; {
	case c == '{' && s.profile == MCP:
		end, p = s.members(b, i, inParams, 2)
	case c == '{' && s.profile == LSP:
		end, p = s.members(b, i, inParamsLSP, 2)
	default:
		end, p = s.body(b, i, 1)
		switch {
		case c == '[':
			s.e.Flags |= FlagParamsArray
		case c == 'n':
			s.e.Flags |= FlagParamsNull
		case c != '{':
			s.e.Flags |= FlagParamsScalar
		}
	}
	if p.bad() {
		return end, p
	}
	s.e.Params = Span{uint32(i), uint32(end)}
	return end, fine
}

// result validates the result and notes what is in it.
func (s *scanner) result(b []byte, i int) (int, problem) {
	var end int
	var p problem
	if b[i] == '{' && s.profile == MCP {
		end, p = s.members(b, i, inResult, 2)
	} else if s.plain {
		end, p = s.skip(b, i, 1)
	} else {
		end, p = s.body(b, i, 1)
	}
	if p.bad() {
		return end, p
	}
	s.e.Result = Span{uint32(i), uint32(end)}
	return end, fine
}

// error validates the error and notes it unless it is null.
func (s *scanner) error(b []byte, i int) (int, problem) {
	end, p := s.body(b, i, 1)
	if p.bad() {
		return end, p
	}
	if b[i] == 'n' {
		s.e.Flags |= FlagErrorNull
	} else {
		s.e.Error = Span{uint32(i), uint32(end)}
	}
	return end, fine
}
