package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// text writes the function that crosses the text of a string.
func text(name string, wide bool) {
	TEXT(name, NOSPLIT, "func(p *byte, n int) (at, escapes int)")
	if wide {
		Doc(name + " is textAVX2 that takes bytes beyond ASCII as they come.")
	} else {
		Doc(name+" crosses the text of a string at p, of n bytes, in whole blocks of 64.",
			"at is the index of the first byte that wants a closer look: a quote, a control",
			"character, a byte beyond ASCII, or the backslash of an escape that is not of two",
			"characters; or it is where the blocks end. escapes is not 0 if escapes were",
			"crossed.")
	}
	Pragma("noescape")
	p := Load(Param("p"), GP64())
	n := Load(Param("n"), GP64())
	at, carry, saw := GP64(), GP64(), GP64()
	XORQ(at, at)
	XORQ(carry, carry)
	XORQ(saw, saw)
	SUBQ(Imm(64), n) // the last place where a block begins

	marks := byLowHalf("textMarks", '"', '\\')
	bad := func(b block) block {
		if wide {
			k := VecVirtual(YMM())
			VMOVDQU(filled(0x1f), k)
			return b.each(func(half, to VecVirtual) {
				VPMINUB(half, k, to)
				VPCMPEQB(half, to, to)
			})
		}
		return b.below(' ')
	}
	Label("plain")
	CMPQ(at, n)
	JG(LabelRef("end"))
	b := load(Mem{Base: p, Index: at, Scale: 1})
	special := b.listed(marks).or(bad(b))
	VPOR(special[0], special[1], special[1])
	VPTEST(special[1], special[1])
	JNZ(LabelRef("marked"))
	ADDQ(Imm(64), at)
	JMP(LabelRef("plain"))

	// Something stands in the block. Escapes of two characters are crossed here: text
	// is full of \n and \".
	Label("block")
	CMPQ(at, n)
	JG(LabelRef("end"))
	Label("marked")
	b = load(Mem{Base: p, Index: at, Scale: 1})
	stops := bad(b).mask()
	quotes := b.is('"').mask()
	slashes := b.is('\\').mask()
	TESTQ(slashes, slashes)
	JNZ(LabelRef("escapes"))
	TESTQ(carry, carry)
	JNZ(LabelRef("escapes"))
	ORQ(quotes, stops)
	JNZ(LabelRef("stop"))
	ADDQ(Imm(64), at)
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
	JNZ(LabelRef("block"))
	JMP(LabelRef("plain"))

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
