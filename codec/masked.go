package codec

import (
	"bytes"
	"math/bits"

	"github.com/correlator-go/correlator/internal/vector"
)

// masked validates the object or array at b[i] a block of 64 bytes at a time: what
// may follow what is decided for all bytes of a block at once, in words of 64 bits,
// without a branch that data could make hard to predict. Only brackets, literals
// and what is rare are looked at one by one.
//
// It says where the value ends, or nothing: then the portable engine looks again,
// from the beginning.
func (s *scanner) masked(b []byte, i, depth int) (int, problem) {
	end, newline := s.mask(b, i, depth)
	if end == undecided {
		s.deep = bitstack{}
		return s.skip(b, i, depth)
	}
	if newline {
		s.e.Flags |= FlagNewline
	}
	if end-i < batch*vector.Block {
		s.tiny++
	}
	return end, fine
}

// mask returns the index behind the value, or undecided, and whether a newline stands
// between its tokens.
func (s *scanner) mask(b []byte, i, depth int) (end int, newline bool) {
	m := masker{b: b, base: i, clean: i, depth: depth, maxDepth: s.maxDepth, stack: emptyWord}
	m.want.value = 1
	end = m.run(s)
	return end, m.newline
}

// masker is the state of masked between two blocks.
type masker struct {
	b        []byte
	base     int // where the block begins
	clean    int // what stands before is known to be UTF-8
	checked  int // numbers and literals that begin before are valid
	depth    int
	maxDepth int
	stack    uint64 // what lies around, as in skip
	inObject uint64 // all ones while that is an object
	keyOpen  uint64 // 1: the block begins in a member's name
	scalar   uint64 // 1: the byte before the block belongs to a number or literal
	wide     uint64 // not 0: bytes beyond ASCII from clean on
	newline  bool
	want     wanted
	strings  vector.State
}

// wanted says what is due at the first byte of a block that is no space: one of
// these is 1, or none inside of a string, number or literal.
type wanted struct {
	close, name, nameOrClose, element, value, colon uint64
}

// batch is how many blocks are classified at once.
const batch = 4

// undecided is what the block's walkers return when the portable engine must look;
// goOn, when the value does not end in the block.
const (
	undecided = -1
	goOn      = -2
)

// run returns the index behind the value, or undecided.
func (m *masker) run(s *scanner) int {
	var masks [batch]vector.Masks
	for {
		n := min((len(m.b)-m.base)/vector.Block, batch)
		if n > 0 {
			vector.Classify(m.b[m.base:], &m.strings, masks[:n])
		} else { // what is left, and zeros behind it
			var rest [vector.Block]byte
			copy(rest[:], m.b[m.base:])
			vector.Classify(rest[:], &m.strings, masks[:1])
			if end := m.block(s, &masks[0]); end >= 0 && end <= len(m.b) {
				return m.finish(end)
			}
			return undecided
		}
		for k := range n {
			switch end := m.block(s, &masks[k]); end {
			case goOn:
			case undecided:
				return undecided
			default:
				return m.finish(end)
			}
			m.base += vector.Block
			if masks[k][vector.Inside] == ^uint64(0) && m.b[m.base-1] != '\\' {
				if !m.crossString(s) {
					return undecided
				}
				break
			}
		}
		if !m.checkUTF8() {
			return undecided
		}
	}
}

// finish looks at what is open when the value ends at end.
func (m *masker) finish(end int) int {
	if m.wide != 0 && !vector.ValidUTF8(m.b[m.clean:end]) {
		return undecided
	}
	return end
}

// checkUTF8 looks at the bytes before the block, now and then.
func (m *masker) checkUTF8() bool {
	const often = 4 << 10
	switch {
	case m.wide == 0:
		m.clean = m.base
	case m.base-m.clean >= often:
		end := m.boundary()
		if !vector.ValidUTF8(m.b[m.clean:end]) {
			return false
		}
		m.clean, m.wide = end, uint64(m.base-end)
	}
	return true
}

// boundary is base, or where the character begins that base lies in.
func (m *masker) boundary() int {
	end := m.base
	for k := 0; k < 3 && end > m.clean && end < len(m.b) && m.b[end]&0xC0 == 0x80; k++ {
		end--
	}
	return end
}

// crossString goes on behind the end of the string that the block begins in: it
// held the whole block before, so it is likely to be long.
func (m *masker) crossString(s *scanner) bool {
	from := m.boundary()
	if m.wide != 0 && !vector.ValidUTF8(m.b[m.clean:from]) {
		return false
	}
	end, p := s.str(m.b, from)
	if p.bad() {
		return false
	}
	m.base, m.clean, m.wide = end, end, 0
	m.strings = vector.State{}
	m.want.close, m.want.colon, m.keyOpen = 1, m.keyOpen, 0
	return true
}

// block takes the block at base.
func (m *masker) block(s *scanner, k *vector.Masks) int {
	inside, quotes := k[vector.Inside], k[vector.Quotes]
	between := ^(inside | quotes)
	opens, closes := k[vector.Opens]&between, k[vector.Closes]&between
	commas, colons := k[vector.Commas]&between, k[vector.Colons]&between
	spaces := k[vector.Spaces] & between
	scalars := between &^ (opens | closes | commas | colons | spaces)
	starts, ends := quotes&inside, quotes&^inside

	bad := k[vector.Controls] & inside
	if k[vector.Escapes] != 0 && !m.escapes(k[vector.Escapes]&inside) {
		return undecided
	}

	// Which bytes lie in an object, and where the value ends.
	inObject, end := m.inObject, goOn
	known := ^uint64(0) // the bytes that belong to the value
	for t := opens | closes; t != 0; t &= t - 1 {
		at := bits.TrailingZeros64(t) & 63
		curly := k[vector.Curly] >> at & 1
		if opens>>at&1 != 0 {
			if m.depth++; m.depth > m.maxDepth {
				return undecided
			}
			if int64(m.stack) < 0 {
				s.deep.push(m.stack)
				m.stack = emptyWord
			}
			m.stack = m.stack<<1 | curly
		} else {
			if m.stack&1 != curly {
				return undecided
			}
			m.depth--
			if m.stack >>= 1; m.stack == emptyWord {
				if m.stack = s.deep.pop(); m.stack == emptyWord {
					end, known = m.base+at+1, ^uint64(0)>>(63-at)
					break
				}
			}
		}
		above := ^uint64(0) << at
		inObject = inObject&^above | -(m.stack&1)&above
	}
	if end >= 0 {
		scalars &= known
	}

	// What follows what. Each of these sets holds the first bytes behind tokens of one
	// kind, spaces crossed, and says what may stand there.
	follows := scalars<<1 | m.scalar
	was := m.want
	m.want = wanted{
		close:       (ends | closes) >> 63,
		name:        commas & inObject >> 63,
		nameOrClose: opens & k[vector.Curly] >> 63,
		element:     opens &^ k[vector.Curly] >> 63,
		value:       (commas&^inObject | colons) >> 63,
	}
	m.scalar = scalars >> 63
	toClose := (ends|closes)<<1 | follows&^scalars | was.close
	toName := commas&inObject<<1 | was.name
	toNameOrClose := opens&k[vector.Curly]<<1 | was.nameOrClose
	toElement := opens&^k[vector.Curly]<<1 | was.element
	toValue := (commas&^inObject|colons)<<1 | was.value
	if spaces != 0 {
		toClose = over(toClose, spaces, &m.want.close)
		toName = over(toName, spaces, &m.want.name)
		toNameOrClose = over(toNameOrClose, spaces, &m.want.nameOrClose)
		toElement = over(toElement, spaces, &m.want.element)
		toValue = over(toValue, spaces, &m.want.value)
		if !m.newline && spaces&k[vector.Controls]&known != 0 {
			m.findNewline(known)
		}
	}
	// A name's end is where the sum of its beginning and the string's bytes carries to.
	sum, keyOpen := bits.Add64(starts&(toName|toNameOrClose), inside, m.keyOpen)
	nameEnds := sum &^ inside & quotes
	m.keyOpen = keyOpen
	toColon := nameEnds<<1 | was.colon
	m.want.colon = nameEnds >> 63
	if spaces != 0 {
		toColon = over(toColon, spaces, &m.want.colon)
	}
	begins := scalars &^ follows
	values := starts | begins | opens
	bad |= toClose &^ (commas | colons | closes)
	bad |= toName &^ starts
	bad |= toNameOrClose &^ (starts | closes)
	bad |= toElement &^ (values | closes)
	bad |= toValue &^ values
	bad |= toColon ^ colons

	if m.checked > m.base {
		scalars &^= 1<<min(m.checked-m.base, 64) - 1 // nothing is left of 64
	}
	if scalars != 0 {
		bad |= m.scalars(k, scalars, begins, end == goOn)
	}
	if bad&known != 0 {
		return undecided
	}
	m.inObject = -(m.stack & 1)
	m.wide |= k[vector.Wides] & known
	return end
}

// over moves the members of from that stand on spaces behind them. One that would
// stand behind the block is kept in next.
func over(from, spaces uint64, next *uint64) uint64 {
	sum, carry := bits.Add64(from&spaces, spaces, 0)
	*next |= carry
	return (from | sum) &^ spaces
}

// findNewline looks whether one of the spaces is a newline.
func (m *masker) findNewline(known uint64) {
	end := min(m.base+bits.Len64(known), len(m.b))
	block := m.b[m.base:end] // in strings none may stand
	m.newline = bytes.IndexByte(block, '\n') >= 0 || bytes.IndexByte(block, '\r') >= 0
}

// escapes validates the escapes that are not of two characters.
func (m *masker) escapes(at uint64) bool {
	for ; at != 0; at &= at - 1 {
		i := m.base + bits.TrailingZeros64(at)
		if i >= len(m.b) || m.b[i] != 'u' {
			return false
		}
		if _, p := hex4(m.b, i+1); p != fine {
			return false
		}
	}
	return true
}

// scalars validates the numbers and literals that are marked, and returns the marks
// of bytes at which one is wrong. goesOn says that the block does not end the value.
func (m *masker) scalars(k *vector.Masks, marked, begins uint64, goesOn bool) uint64 {
	const wrong = ^uint64(0)
	digits, minuses, dots := k[vector.Digits]&marked, k[vector.Minuses]&marked, k[vector.Dots]&marked
	// Literals, exponents, whatever else, and what goes on in the next block.
	rest := marked &^ (digits | minuses | dots)
	if goesOn {
		rest |= marked & (1 << 63)
	}
	for rest != 0 {
		at := bits.TrailingZeros64(rest)
		before := begins & marked & (2<<at - 1)
		if before == 0 {
			return wrong
		}
		first := 63 - bits.LeadingZeros64(before)
		end := scalarEnd(m.b, m.base+first)
		if end <= m.base+at {
			return wrong
		}
		m.checked = end
		behind := ^uint64(0)
		if n := end - m.base; n < 64 {
			behind <<= n
		} else {
			behind = 0
		}
		gone := ^uint64(0) << first &^ behind
		rest, marked = rest&behind, marked&^gone
	}
	digits, minuses, dots = digits&marked, minuses&marked, dots&marked
	begins &= marked
	bad := begins & dots
	bad |= minuses &^ begins
	bad |= (minuses | dots) << 1 &^ digits
	bad |= dots &^ (digits << 1)
	bad |= (begins&digits | minuses<<1) & k[vector.Zeros] & (digits >> 1)
	bad |= (dots<<1 + digits) &^ digits & dots // a second one behind the fraction
	return bad
}

// scalarEnd returns the index behind the number or literal at b[i]; 0 if it is none,
// or if more of the kind follows at once.
func scalarEnd(b []byte, i int) int {
	if i >= len(b) {
		return 0
	}
	var end int
	var p problem
	switch c := b[i]; {
	case c-'0' <= 9 || c == '-':
		end, p = number(b, i)
	case c == 't' || c == 'f' || c == 'n':
		end, p = literal(b, i)
	default:
		return 0
	}
	if p != fine || end < len(b) && !isDelimiter(b[end]) {
		return 0
	}
	return end
}

func isDelimiter(c byte) bool { return c == ',' || c|0x20 == '}' || isSpace(c) }
