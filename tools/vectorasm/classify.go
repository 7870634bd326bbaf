package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The masks of a block, in the order of vector.Masks.
const (
	quotes = iota
	inside
	opens
	closes
	bit5
	commas
	colons
	spaces
	digits
	minuses
	dots
	zeros
	controls
	wides
	escapes
	_ // so that a block's masks are two cache lines
	masks
)

// classify writes the function that tells what each byte of a block is.
func classify() {
	TEXT("classifyAVX2", NOSPLIT, "func(p *byte, blocks int, state, out *uint64)")
	Doc("classifyAVX2 writes the Masks of so many blocks from p on to out. state is a State.")
	Pragma("noescape")
	p := Load(Param("p"), GP64())
	blocks := Load(Param("blocks"), GP64())
	state := Load(Param("state"), GP64())
	out := Load(Param("out"), GP64())
	carry, within := GP64(), GP64()
	MOVQ(Mem{Base: state}, within)
	MOVQ(Mem{Base: state, Disp: 8}, carry)

	put := func(n int, m Register) { MOVQ(m, Mem{Base: out, Disp: 8 * n}) }
	Label("loop")
	TESTQ(blocks, blocks)
	JZ(LabelRef("done"))
	b := load(Mem{Base: p})

	put(commas, b.is(',').mask())
	put(colons, b.is(':').mask())
	put(minuses, b.is('-').mask())
	put(dots, b.is('.').mask())
	put(zeros, b.is('0').mask())
	put(spaces, b.listed(byLowHalf("spaces", ' ', '\t', '\n', '\r')).mask())
	put(digits, b.digits().mask())
	put(bit5, b.shifted(2).mask())
	lower := b.each(func(half, to VecVirtual) { VPOR(filled(0x20), half, to) })
	put(opens, lower.is('{').mask())
	put(closes, lower.is('}').mask())
	wide := b.mask()
	put(wides, wide)
	low := b.below(' ').mask()
	NOTQ(wide)
	ANDQ(wide, low)
	put(controls, low)

	quote := b.is('"').mask()
	slashes := b.is('\\').mask()
	wrong := GP64()
	XORQ(wrong, wrong)
	either := GP64()
	MOVQ(slashes, either)
	ORQ(carry, either)
	JZ(LabelRef("strings"))
	escaped := escapedBy(slashes, carry)
	simple := b.simpleEscapes().mask()
	MOVQ(simple, wrong)
	NOTQ(wrong)
	ANDQ(escaped, wrong)
	NOTQ(escaped)
	ANDQ(escaped, quote)
	Label("strings")
	put(escapes, wrong)
	put(quotes, quote)
	put(inside, insideOf(quote, within))

	ADDQ(Imm(64), p)
	ADDQ(Imm(8*masks), out)
	DECQ(blocks)
	JMP(LabelRef("loop"))
	Label("done")
	MOVQ(within, Mem{Base: state})
	MOVQ(carry, Mem{Base: state, Disp: 8})
	VZEROUPPER()
	RET()
}

// digits marks the decimal digits: moved to the top of the signed numbers, they
// are the ones above all others.
func (b block) digits() block {
	return b.each(func(half, to VecVirtual) {
		VPADDB(filled(0x7f-'9'), half, to)
		VPCMPGTB(filled(0x7f-10), to, to)
	})
}

// shifted moves the bits of each byte up, and those of its neighbour in below.
func (b block) shifted(by uint64) block {
	return b.each(func(half, to VecVirtual) { VPSLLW(Imm(by), half, to) })
}
