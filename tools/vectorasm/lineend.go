package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// lineEnd writes the function that looks for the end of a line.
func lineEnd() {
	TEXT("lineEndAVX2", NOSPLIT, "func(p *byte, blocks int) (at int)")
	Doc("lineEndAVX2 is the index of the first line feed or carriage return in so many blocks",
		"of 64 from p on, or the length of the blocks.")
	Pragma("noescape")
	p := Load(Param("p"), GP64())
	end := Load(Param("blocks"), GP64())
	at := GP64()
	XORQ(at, at)
	SHLQ(Imm(6), end)

	Label("block")
	CMPQ(at, end)
	JGE(LabelRef("done"))
	b := load(Mem{Base: p, Index: at, Scale: 1})
	ends := b.is('\n').or(b.is('\r'))
	any := YMM()
	VPOR(ends[0], ends[1], any)
	VPTEST(any, any)
	JNZ(LabelRef("found"))
	ADDQ(Imm(64), at)
	JMP(LabelRef("block"))

	Label("found")
	first := ends.mask()
	TZCNTQ(first, first)
	ADDQ(first, at)
	Label("done")
	Store(at, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
