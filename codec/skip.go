package codec

// skip validates the value that begins at b[i], after optional whitespace, and
// returns the index behind it. depth is how many containers lie around it.
//
// It is one loop without recursion: hostile nesting costs a bit a level. There
// are three places in the grammar, and a label for each.
//
//	        ┌──────────── ',' in an array ───────────┐
//	        ▼                                        │
//	value ──┴─ scalar ────────────────────────────▶ after ── empty stack ──▶ done
//	  ▲  └── '{' ──▶ key ── name, colon ──▶ value     │ ▲
//	  │               ▲                               │ │
//	  └── '[' ──┘     └──────── ',' in an object ─────┘ └─ '}' or ']' pops
func (s *scanner) skip(b []byte, i, depth int) (int, problem) {
	var (
		stack = uint64(emptyWord)
		p     problem
		c     byte
	)
value:
	if uint(i) >= uint(len(b)) {
		return i, errTruncated
	}
	switch c = b[i]; {
	case c == '"':
		i++
		if fits(b, i) {
			if n := firstMark(specials(load64(b, i))); n < 8 && b[i+n] == '"' {
				i += n + 1
				goto after
			}
		}
		if i, p = s.str(b, i); p.bad() {
			return i, p
		}
		goto after
	case c-'0' <= 9 || c == '-':
		if c > '0' && i+8 < len(b) {
			if n := i + firstMark(nondigits(load64(b, i))); b[n] == ',' || b[n] == '}' || b[n] == ']' {
				i = n
				goto after
			}
		}
		if i, p = number(b, i); p != fine {
			return i, p
		}
		goto after
	case c == '{':
		if depth++; depth > s.maxDepth {
			return i, errDeep
		}
		if int64(stack) < 0 {
			s.deep.push(stack)
			stack = emptyWord
		}
		stack = stack<<1 | 1
		i++
		if uint(i) < uint(len(b)) && b[i] == '"' {
			goto name
		}
		if i = s.space(b, i); i < len(b) && b[i] == '}' {
			goto pop
		}
		goto key
	case c == '[':
		if depth++; depth > s.maxDepth {
			return i, errDeep
		}
		if int64(stack) < 0 {
			s.deep.push(stack)
			stack = emptyWord
		}
		stack <<= 1
		i++
		if uint(i) < uint(len(b)) && b[i] <= ' ' {
			i = s.space(b, i)
		}
		if uint(i) < uint(len(b)) && b[i] == ']' {
			goto pop
		}
		goto value
	case c == 't' || c == 'f' || c == 'n':
		if i, p = literal(b, i); p != fine {
			return i, p
		}
		goto after
	case c <= ' ':
		n := i
		if i = s.space(b, i); i > n {
			goto value
		}
	}
	return i, errValue

key:
	if uint(i) >= uint(len(b)) {
		return i, errTruncated
	}
	if b[i] != '"' {
		n := i
		if i = s.space(b, i); i > n {
			goto key
		}
		return i, errKey
	}
name:
	i++
	if fits(b, i) {
		if n := firstMark(specials(load64(b, i))); n < 8 && b[i+n] == '"' {
			i += n + 1
			goto colon
		}
	}
	if i, p = s.str(b, i); p.bad() {
		return i, p
	}
colon:
	if uint(i) < uint(len(b)) && b[i] == ':' {
		i++
		goto value
	}
	if i = s.space(b, i); i >= len(b) {
		return i, errTruncated
	}
	if b[i] != ':' {
		return i, errColon
	}
	i++
	goto value

pop:
	i++
	depth--
	stack >>= 1
after:
	if stack == emptyWord {
		if stack = s.deep.pop(); stack == emptyWord {
			return i, fine
		}
	}
	if uint(i) >= uint(len(b)) {
		return i, errTruncated
	}
	c = b[i]
	if stack&1 != 0 {
		if c == ',' {
			i++
			if uint(i) < uint(len(b)) && b[i] == '"' {
				goto name
			}
			goto key
		}
		if c == '}' {
			goto pop
		}
		if i = s.space(b, i); i < len(b) && (b[i] == ',' || b[i] == '}') {
			goto after
		}
		return s.gap(b, i, errObject)
	}
	if c == ',' {
		i++
		goto value
	}
	if c == ']' {
		goto pop
	}
	if i = s.space(b, i); i < len(b) && (b[i] == ',' || b[i] == ']') {
		goto after
	}
	return s.gap(b, i, errArray)
}

// gap tells a frame that ends from one that goes on wrongly.
func (s *scanner) gap(b []byte, i int, p problem) (int, problem) {
	if uint(i) >= uint(len(b)) {
		return i, errTruncated
	}
	return i, p
}
