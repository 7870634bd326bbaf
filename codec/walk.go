package codec

// The envelope members, as bits of what was seen.
const (
	sawVersion = 1 << iota
	sawID
	sawMethod
	sawParams
	sawResult
	sawError
)

// The names of the envelope members as words: the name, its closing quote and,
// where it fits into eight bytes, the colon. The three words of opening overlap
// and make up the way most messages begin, "jsonrpc":"2.0","id":.
const (
	keyJSONRPC = 'j' | 's'<<8 | 'o'<<16 | 'n'<<24 | 'r'<<32 | 'p'<<40 | 'c'<<48 | '"'<<56
	keyMethod  = 'm' | 'e'<<8 | 't'<<16 | 'h'<<24 | 'o'<<32 | 'd'<<40 | '"'<<48 | ':'<<56
	keyParams  = 'p' | 'a'<<8 | 'r'<<16 | 'a'<<24 | 'm'<<32 | 's'<<40 | '"'<<48 | ':'<<56
	keyResult  = 'r' | 'e'<<8 | 's'<<16 | 'u'<<24 | 'l'<<32 | 't'<<40 | '"'<<48 | ':'<<56
	keyID      = 'i' | 'd'<<8 | '"'<<16 | ':'<<24
	keyError   = 'e' | 'r'<<8 | 'r'<<16 | 'o'<<24 | 'r'<<32 | '"'<<40 | ':'<<48
	opening0   = '"' | 'j'<<8 | 's'<<16 | 'o'<<24 | 'n'<<32 | 'r'<<40 | 'p'<<48 | 'c'<<56
	opening1   = '"' | ':'<<8 | '"'<<16 | '2'<<24 | '.'<<32 | '0'<<40 | '"'<<48 | ','<<56
	opening2   = '0' | '"'<<8 | ','<<16 | '"'<<24 | 'i'<<32 | 'd'<<40 | '"'<<48 | ':'<<56
	version2   = '"' | '2'<<8 | '.'<<16 | '0'<<24 | '"'<<32
	mask32     = 1<<32 - 1
	mask40     = 1<<40 - 1
	mask56     = 1<<56 - 1
)

// envelope walks the members of the message from behind its brace, and returns
// the index behind the closing one.
func (s *scanner) envelope(b []byte, i int) (int, problem) {
	if i < len(b) && b[i] <= ' ' {
		i = s.space(b, i)
	}
	if i < len(b) && b[i] == '}' {
		return i + 1, fine
	}
	return s.envelopeMembers(b, i, 0)
}

// envelopeMembers walks over the members from b[i] on, which is the first one's
// quote if none was seen, else what stands behind the last. Names written the usual
// way are told from one word; all others take the general path.
func (s *scanner) envelopeMembers(b []byte, i int, seen uint8) (int, problem) {
	var (
		p   problem
		bit uint8
		at  int
	)
	if i < len(b) && b[i] <= ' ' {
		i = s.space(b, i)
	}
	if seen != 0 {
		goto behind
	}
member:
	at = i
	if i < len(b) && b[i] == '"' {
		switch w := window(b, i+1); {
		case w == keyJSONRPC && i+9 < len(b) && b[i+9] == ':':
			bit, i = sawVersion, i+10
		case w&mask32 == keyID:
			bit, i = sawID, i+5
		case w == keyMethod:
			bit, i = sawMethod, i+9
		case w == keyParams:
			bit, i = sawParams, i+9
		case w == keyResult:
			bit, i = sawResult, i+9
		case w&mask56 == keyError:
			bit, i = sawError, i+8
		default:
			bit, i, p = s.name(b, i)
		}
	} else {
		bit, i, p = s.name(b, i)
	}
	if p != fine {
		return i, p
	}
	if i < len(b) && b[i] <= ' ' {
		i = s.space(b, i)
	}
	if i >= len(b) {
		return i, errTruncated
	}
	if seen&bit != 0 {
		s.duplicate(bit, at)
		bit = 0
	}
	seen |= bit
	switch bit {
	case sawVersion:
		if window(b, i)&mask40 == version2 {
			i += 5
		} else {
			i, p = s.version(b, i)
		}
	case sawID:
		i, p = s.id(b, i)
	case sawMethod:
		i, p = s.method(b, i)
	case sawParams:
		i, p = s.params(b, i)
	case sawResult:
		i, p = s.result(b, i)
	case sawError:
		i, p = s.error(b, i)
	default:
		i, p = s.skip(b, i, 1)
	}
	if p.bad() {
		return i, p
	}
	if i < len(b) && b[i] <= ' ' {
		i = s.space(b, i)
	}
behind:
	if i >= len(b) {
		return i, errTruncated
	}
	switch b[i] {
	case ',':
		i++
		if i < len(b) && b[i] <= ' ' {
			i = s.space(b, i)
		}
		goto member
	case '}':
		s.seen = seen
		return i + 1, fine
	}
	return i, errObject
}

// name reads the member name that is due at b[i] in whatever way it is written,
// and the colon after it. It returns the bit of the envelope member that it
// names, 0 for any other, and the index behind the colon.
func (s *scanner) name(b []byte, i int) (uint8, int, problem) {
	start, i, p := s.key(b, i)
	if p.bad() {
		return 0, i, p
	}
	raw := b[start : i-1]
	i, q := s.colon(b, i)
	var buf [maxKey + 1]byte
	switch string(plain(raw, p, &buf)) {
	case "jsonrpc":
		return sawVersion, i, q
	case "id":
		return sawID, i, q
	case "method":
		return sawMethod, i, q
	case "params":
		return sawParams, i, q
	case "result":
		return sawResult, i, q
	case "error":
		return sawError, i, q
	}
	return 0, i, q
}

// key validates the member name whose quote is due at b[i]; it returns where
// the name begins and the index behind its closing quote.
func (s *scanner) key(b []byte, i int) (start, end int, p problem) {
	if i >= len(b) {
		return i, i, errTruncated
	}
	if b[i] != '"' {
		return i, i, errKey
	}
	i++
	if fits(b, i) {
		if n := firstMark(specials(load64(b, i))); n < 8 && b[i+n] == '"' {
			return i, i + n + 1, fine
		}
	}
	end, p = s.str(b, i)
	return i, end, p
}

// colon demands a colon at b[i], after optional whitespace, and returns the
// index behind it.
func (s *scanner) colon(b []byte, i int) (int, problem) {
	if i = s.space(b, i); i >= len(b) {
		return i, errTruncated
	}
	if b[i] != ':' {
		return i, errColon
	}
	return i + 1, fine
}

// maxKey is the length of the longest name that is looked for.
const maxKey = len(subscriptionKey)

// plain returns the decoded form of a member name: raw itself, unless p says that
// it has escapes; else as much of it as buf takes, which is one byte more than
// any name that is looked for.
func plain(raw []byte, p problem, buf *[maxKey + 1]byte) []byte {
	if p != escaped {
		return raw
	}
	if len(raw) > len(`\u0000`)*maxKey {
		return nil
	}
	return unquote(buf[:0], raw, maxKey+1)
}

// duplicate refuses the second member of one name. A doubled id is no id that
// could be sent back.
func (s *scanner) duplicate(bit uint8, at int) {
	s.blame(errDuplicate, at)
	if bit == sawID {
		s.e.RawID, s.e.IDKind, s.e.IntID = Span{}, IDAbsent, 0
	}
}
