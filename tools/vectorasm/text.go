package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// text writes the function that crosses the text of a string.
func text() {
	TEXT("textAVX2", NOSPLIT, "func(p *byte, n int) (at, escapes int)")
	Doc("textAVX2 crosses the text of a string at p, of n bytes, in whole blocks of 64.",
		"at is the index of the first byte that wants a closer look: a quote, a control",
		"character, or the backslash of an escape that is not of two characters; or it is",
		"where the blocks end, or a block begins that is no UTF-8. Then it may lie within a",
		"character. escapes is not 0 if escapes were crossed.")
	Pragma("noescape")
	p := Load(Param("p"), GP64())
	n := Load(Param("n"), GP64())
	at, carry, saw := GP64(), GP64(), GP64()
	XORQ(at, at)
	XORQ(carry, carry)
	XORQ(saw, saw)
	SUBQ(Imm(64), n) // the last place where a block begins
	utf8 := newCharacters()
	stops, wides := GP64(), GP64()
	marks, space := kept(byLowHalf("textMarks", '"', '\\')), kept(filled(' '))
	here := Mem{Base: p, Index: at, Scale: 1}

	Label("plain")
	CMPQ(at, n)
	JG(LabelRef("end"))
	b := load(here)
	b.found(marks).or(b.under(space)).test()
	JNZ(LabelRef("marked"))
	ADDQ(Imm(64), at)
	JMP(LabelRef("plain"))

	// Something stands in the block. Escapes of two characters are crossed here: text is
	// full of \n and \".
	Label("block")
	CMPQ(at, n)
	JG(LabelRef("end"))
	b.load(here)
	Label("marked")
	XORQ(wides, wides)
	MOVQ(b.under(space).mask(), stops)
	TESTQ(stops, stops)
	JNZ(LabelRef("rare"))
	Label("masks")
	quotes := b.is('"').mask()
	slashes := b.is('\\').mask()
	TESTQ(slashes, slashes)
	JNZ(LabelRef("escapes"))
	TESTQ(carry, carry)
	JNZ(LabelRef("escapes"))
	ORQ(quotes, stops)
	JNZ(LabelRef("stop"))
	ADDQ(Imm(64), at)
	SHRQ(Imm(61), wides) // the block may break off a character
	JNZ(LabelRef("wide"))
	JMP(LabelRef("plain"))

	Label("escapes")
	escaped := escapedBy(slashes, carry)
	wrong := b.simpleEscapes().mask()
	NOTQ(wrong)
	ANDQ(escaped, wrong)
	NOTQ(escaped)
	ANDQ(escaped, quotes)
	ORQ(quotes, stops)
	ORQ(wrong, stops)
	upTo := GP64() // the first stop, or everything
	BLSMSKQ(stops, upTo)
	ANDQ(slashes, upTo)
	ORQ(upTo, saw)
	TESTQ(stops, stops)
	JNZ(LabelRef("stopEscape"))
	ADDQ(Imm(64), at)
	TESTQ(carry, carry)
	JNZ(LabelRef("block")) // behind a backslash, so no character is broken off
	SHRQ(Imm(61), wides)
	JZ(LabelRef("plain"))

	// Text beyond ASCII.
	Label("wide")
	CMPQ(at, n)
	JG(LabelRef("end"))
	b.load(here)
	utf8.check(b)
	JNZ(LabelRef("end"))
	MOVQ(b.mask(), wides)
	b.found(marks).or(b.controls()).test()
	JNZ(LabelRef("markedWide"))
	ADDQ(Imm(64), at)
	SHRQ(Imm(61), wides)
	JNZ(LabelRef("wide"))
	JMP(LabelRef("plain"))
	Label("markedWide")
	MOVQ(b.controls().mask(), stops)
	JMP(LabelRef("masks"))

	// Bytes beyond ASCII, or controls.
	Label("rare")
	MOVQ(b.controls().mask(), stops)
	MOVQ(b.mask(), wides)
	TESTQ(wides, wides)
	JZ(LabelRef("masks"))
	utf8.check(b)
	JZ(LabelRef("masks"))
	JMP(LabelRef("end"))

	Label("stopEscape")
	first := GP64()
	TZCNTQ(stops, first)
	ADDQ(first, at)
	BTQ(first, wrong)
	SBBQ(Imm(0), at) // back to the backslash
	JMP(LabelRef("done"))

	Label("stop")
	TZCNTQ(stops, first)
	ADDQ(first, at)
	JMP(LabelRef("done"))

	Label("end")
	SUBQ(carry, at) // back to a backslash whose other half is not in a block
	Label("done")
	Store(at, ReturnIndex(0))
	Store(saw, ReturnIndex(1))
	VZEROUPPER()
	RET()
}

// controls marks the bytes below 0x20.
func (b block) controls() block {
	k := VecVirtual(YMM())
	VMOVDQU(filled(0x1f), k)
	return b.each(func(half, to VecVirtual) {
		VPMINUB(half, k, to)
		VPCMPEQB(half, to, to)
	})
}

// test sets the zero flag if no byte is marked.
func (b block) test() {
	VPOR(b[0], b[1], b[1])
	VPTEST(b[1], b[1])
}
