package codec

import (
	"cmp"
	"math/bits"
	"strconv"
	"strings"
)

// IDKind is the JSON type of an id.
type IDKind uint8

// The kinds of id; IDAbsent is the zero value.
const (
	IDAbsent IDKind = iota
	IDNull
	IDInt    // a number that is an int64 in plain form
	IDString // compared by its decoded value
	IDNumber // any other number, by its exact text: beyond int64, "-0", a fraction or an exponent
)

// String gives the name of k.
func (k IDKind) String() string {
	switch k {
	case IDAbsent:
		return "absent"
	case IDNull:
		return "null"
	case IDInt:
		return "int"
	case IDString:
		return "string"
	case IDNumber:
		return "number"
	}
	return "IDKind(" + strconv.Itoa(int(k)) + ")"
}

// ID is a request id, progress token or subscription id as a value: comparable
// with ==, usable as a map key, never sharing bytes with a frame. Two ids are
// equal exactly when they have the same JSON type and the same value: 1 and "1"
// differ, "a" and "\u0061" do not, 1e2 and 100 do (numbers outside int64 are
// compared by their text, never through a float).
//
// The zero value is the absent id. 0 and "" are ids like any other.
type ID struct {
	num  int64
	text string // "" absent, "#" int, "null" null, `"`+decoded string, else the number's text
}

const (
	intMark  = "#"
	nullMark = "null"
)

// IntID makes the id of an integer.
func IntID(n int64) ID { return ID{n, intMark} }

// StringID makes the id of a string, which it keeps.
func StringID(s string) ID { return ID{0, `"` + s} }

// NullID makes the id null.
func NullID() ID { return ID{0, nullMark} }

// IsAbsent reports whether id is the zero value.
func (id ID) IsAbsent() bool { return id.text == "" }

// Kind gives the JSON type of id.
func (id ID) Kind() IDKind {
	switch {
	case id.text == "":
		return IDAbsent
	case id.text[0] == '#':
		return IDInt
	case id.text[0] == '"':
		return IDString
	case id.text[0] == 'n':
		return IDNull
	}
	return IDNumber
}

// Parts takes id apart for those who keep very many of them: an IDInt is its number,
// any other id is its text alone. [JoinID] puts the parts together again. What the
// text says is the package's own business.
func (id ID) Parts() (num int64, text string) {
	if id.text == intMark {
		return id.num, ""
	}
	return 0, id.text
}

// JoinID makes the id that [ID.Parts] took apart. An IDInt has no text, so the
// absent id comes back as the number 0.
func JoinID(num int64, text string) ID {
	if text == "" {
		return IntID(num)
	}
	return ID{num, text}
}

// Int returns the integer of an IDInt; false for every other kind.
func (id ID) Int() (int64, bool) { return id.num, id.text == intMark }

// Text returns the decoded string of an IDString, the digits of a number,
// "null" for null and "" for an absent id. It allocates for an IDInt above 99.
func (id ID) Text() string {
	switch id.Kind() {
	case IDInt:
		return strconv.FormatInt(id.num, 10)
	case IDString:
		return id.text[1:]
	}
	return id.text
}

// Append appends the JSON text of id to dst; nothing for an absent id.
func (id ID) Append(dst []byte) []byte {
	switch id.Kind() {
	case IDInt:
		return strconv.AppendInt(dst, id.num, 10)
	case IDString:
		return appendQuoted(dst, id.text[1:])
	}
	return append(dst, id.text...)
}

// String returns the JSON text of id, and "absent" for an absent one.
func (id ID) String() string {
	if id.IsAbsent() {
		return "absent"
	}
	return string(id.Append(nil))
}

// Compare orders ids: by kind, then integers by value, strings and other
// numbers by their bytes. It is 0 exactly when id == other.
func (id ID) Compare(other ID) int {
	if c := cmp.Compare(id.Kind(), other.Kind()); c != 0 {
		return c
	}
	if c := cmp.Compare(id.num, other.num); c != 0 {
		return c
	}
	return strings.Compare(id.text, other.text)
}

// Hash mixes id with seed; equal ids give equal hashes under one seed. Take a
// random seed where peers choose the ids, so that they cannot aim at one bucket.
func (id ID) Hash(seed uint64) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	if id.text == intMark {
		return fold(uint64(id.num)^k0, seed^k1)
	}
	s, h := id.text, seed^k0
	for len(s) > 8 {
		h = fold(wordOf(s)^k1, h)
		s = s[8:]
	}
	// The last word is whole where there is one: it may overlap the one before.
	var rest uint64
	if n := len(id.text); n >= 8 {
		rest = wordOf(id.text[n-8:])
	} else {
		for i := range n {
			rest |= uint64(s[i]) << (8 * i)
		}
	}
	return fold(fold(rest^k1, h)^uint64(len(id.text)), seed^k1)
}

// wordOf reads the first eight bytes of s, which has them, as one word.
func wordOf(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// fold is the multiply-and-fold step of wyhash.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
