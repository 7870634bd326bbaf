package vector

// Block is the length of a block in bytes.
const Block = 64

// most is how many bytes one call into assembly takes: at 10 bytes a nanosecond,
// some 25 µs.
const most = 256 << 10

// Masks says of each byte of a block what it is: bit n of each word stands for the
// byte n. The indexes below name the words.
type Masks [16]uint64

// The words of Masks. Brackets, commas and the like are marked in strings too:
// Inside tells which those are.
const (
	Quotes   = iota // quotes that open or close a string, not escaped ones
	Inside          // from an opening quote to before the closing one
	Opens           // { and [
	Closes          // } and ]
	Curly           // of those two, braces; anything elsewhere
	Commas          //
	Colons          //
	Spaces          // space, tab, newline, carriage return
	Digits          //
	Minuses         //
	Dots            //
	Zeros           // the digit 0
	Controls        // below 0x20
	Wides           // beyond ASCII
	Escapes         // bytes that a backslash escapes, but for the simple ones: u, and what may not be escaped
)

// State is what of one block concerns the next: zero for text that begins outside
// of a string.
type State struct {
	inside  uint64 // all ones in a string
	escaped uint64 // 1 if the first byte is escaped
}

// Classify writes to out the masks of as many blocks as it is long, b holding them.
func Classify(b []byte, s *State, out []Masks) {
	_ = b[:len(out)*Block]
	if Available() {
		classifyBlocks(b, s, out)
		return
	}
	for i := range out {
		classifyPortable((*[Block]byte)(b[i*Block:]), s, &out[i])
	}
}

// Text crosses the text of a string at the beginning of b. It returns the index of
// the first byte that wants a closer look: a quote, a control character, or the
// backslash of an escape that is not of two characters. What stands before is UTF-8.
// It stops at any character in the first 64 bytes that are not, and where fewer than
// 64 are left. escapes reports whether simple escapes were crossed.
func Text(b []byte) (at int, escapes bool) {
	for len(b)-at >= Block {
		n, saw := 0, false
		part := b[at:min(len(b), at+most)]
		switch {
		case !Available():
			n, saw = textPortable(part)
		case at == 0:
			n, saw = textBlocks(part)
		default:
			n, saw = textOnward(part)
		}
		n = boundary(part, n)
		at, escapes = at+n, escapes || saw
		if n < len(part)-Block || len(part) < most {
			break
		}
	}
	return at, escapes
}

// textOnward is textBlocks with a look at the stack before it, which is where the
// collector can stop this goroutine: nowhere in assembly, and with textBlocks alone
// hardly ever between its calls, so that a text of 64 MiB held up the world for 10 ms.
//
//go:noinline
func textOnward(b []byte) (int, bool) { return textBlocks(b) }

// boundary is n, or where the character begins that b[:n] breaks off. Otherwise b[:n]
// is UTF-8.
func boundary(b []byte, n int) int {
	switch {
	case n > 0 && b[n-1] >= 0xC0:
		return n - 1
	case n > 1 && b[n-2] >= 0xE0:
		return n - 2
	case n > 2 && b[n-3] >= 0xF0:
		return n - 3
	}
	return n
}

// lineEndLong is from how many bytes on one look at each block is worth its call:
// bytes.IndexByte, twice, is faster with less.
const lineEndLong = 512

// LineEnd is the index of the first line feed or carriage return of b, -1 if it has
// none.
func LineEnd(b []byte) int {
	at := 0
	if len(b) < lineEndLong {
		return lineEndPortable(b)
	}
	for Available() && len(b)-at >= Block {
		blocks := min(len(b)-at, most) / Block
		n := lineEndBlocks(b[at:], blocks)
		if at += n; n < blocks*Block {
			return at
		}
	}
	if at > 0 && at < len(b) { // what is left, in a block with bytes that were looked at
		at = len(b) - Block
		if n := lineEndBlocks(b[at:], 1); n < Block {
			return at + n
		}
		return -1
	}
	if n := lineEndPortable(b[at:]); n >= 0 {
		return at + n
	}
	return -1
}

// Cross goes from the beginning of b, inside of one object or array, to behind the
// bracket that closes it. It follows quotes and brackets, without telling { from [,
// and looks at nothing else; newline reports whether a newline or carriage return
// stands between the strings. ok is false where it cannot tell: b ends before, the
// nesting may be more than deepest, or a string holds a raw newline.
func Cross(b []byte, deepest int) (end int, newline, ok bool) {
	s := crossState{depth: 1}
	for len(b)-end >= Block {
		blocks := min(len(b)-end, most) / Block
		at := crossBlocks(b[end:], blocks, deepest, &s)
		if at >= 0 {
			return end + at, s.newlines != 0, true
		}
		if at != crossOpen {
			return 0, false, false
		}
		end += blocks * Block
	}
	var rest [Block]byte
	copy(rest[:], b[end:])
	at := crossBlocks(rest[:], 1, deepest, &s)
	return end + at, s.newlines != 0, at >= 0
}

// crossState is what of one call of crossBlocks concerns the next.
type crossState struct {
	State
	depth    int
	newlines uint64 // not 0: some stand between strings
}

const (
	crossOpen = -1 // no end in the blocks
	crossLook = -2 // it cannot tell
)

func crossBlocks(b []byte, blocks, deepest int, s *crossState) int {
	_ = b[:blocks*Block]
	if Available() {
		return crossFast(b, blocks, deepest, s)
	}
	return crossPortable(b[:blocks*Block], deepest, s)
}
