package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// characters checks UTF-8 from block to block, after Keiser and Lemire, "Validating
// UTF-8 in less than one instruction per byte" (2021). Blocks of ASCII behind whole
// characters need not be shown to it.
type characters struct {
	last                    VecVirtual // the second half of the last block that was checked
	high, low, next, nibble VecVirtual
}

func newCharacters() *characters {
	c := &characters{
		last:   YMM(),
		high:   kept(halves("utf8High", func(n int) string { return mistakes[n].high })),
		low:    kept(halves("utf8Low", func(n int) string { return mistakes[n].low })),
		next:   kept(halves("utf8Next", func(n int) string { return mistakes[n].next })),
		nibble: kept(filled(15)),
	}
	VPXOR(c.last, c.last, c.last)
	return c
}

// mistakes are what can be wrong with two bytes in a row: both halves of the first
// and the upper one of the next are among these. Each is a bit of the tables. The last
// is none where the next is the third or fourth of its character.
var mistakes = [8]struct{ high, low, next string }{
	{"CDEF", "0123456789ABCDEF", "01234567CDEF"}, // it does not go on
	{"01234567", "0123456789ABCDEF", "89AB"},     // it goes on behind ASCII
	{"E", "0", "89"},                             // fits into two bytes
	{"E", "D", "AB"},                             // half of a surrogate pair
	{"C", "01", "89AB"},                          // fits into one byte
	{"F", "456789ABCDEF", "9AB"},                 // beyond U+10FFFF
	{"F", "056789ABCDEF", "8"},                   // fits into three bytes, or far beyond
	{"89AB", "0123456789ABCDEF", "89AB"},         // goes on and on
}

const goesOn = 1 << 7 // the last of mistakes

// halves is a table of the mistakes that the half of a byte has part in.
func halves(name string, of func(n int) string) Mem {
	var t [16]byte
	for n := range mistakes {
		for _, digit := range []byte(of(n)) {
			half := digit - '0'
			if digit >= 'A' {
				half = digit - 'A' + 10
			}
			t[half] |= 1 << n
		}
	}
	return table(name, t)
}

// check sets the zero flag unless something in b, behind what was checked before, is
// wrong. What is wrong with a character that b breaks off shows in the next block.
func (c *characters) check(b block) {
	wrong := block{YMM(), YMM()}
	before := c.last
	for i, half := range b {
		between, back, at, found := VecVirtual(YMM()), VecVirtual(YMM()), VecVirtual(YMM()), wrong[i]
		upper := func(v VecVirtual) {
			VPSRLW(Imm(4), v, at)
			VPAND(c.nibble, at, at)
		}
		VPERM2I128(Imm(0x21), half, before, between) // the end of before, the beginning of half
		VPALIGNR(Imm(15), between, half, back)       // the byte before each
		upper(back)
		VPSHUFB(at, c.high, found)
		VPAND(c.nibble, back, back)
		VPSHUFB(back, c.low, back)
		VPAND(back, found, found)
		upper(half)
		VPSHUFB(at, c.next, at)
		VPAND(at, found, found)
		VPALIGNR(Imm(14), between, half, back) // two before: a third byte, if that begins three or four
		VPSUBUSB(filled(0xE0-goesOn), back, back)
		VPALIGNR(Imm(13), between, half, at) // three before
		VPSUBUSB(filled(0xF0-goesOn), at, at)
		VPOR(at, back, back)
		VPAND(filled(goesOn), back, back)
		VPXOR(back, found, found)
		before = half
	}
	VMOVDQA(b[1], c.last)
	wrong.test()
}
