// Command vectorasm writes the assembly of internal/vector: run it by
// `go generate ./internal/vector`.
//
// Each function works through blocks of 64 bytes, two AVX2 registers each, and
// turns them into masks of one bit a byte. None reads a byte that its caller did
// not offer, none keeps state between calls but in memory that it is given.
package main

import (
	"encoding/binary"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!correlator_portable")
	text()
	classify()
	cross()
	lineEnd()
	Generate()
}

// A block is 64 bytes in two registers.
type block [2]VecVirtual

func load(at Mem) block {
	b := block{YMM(), YMM()}
	b.load(at)
	return b
}

// load fills the registers of b anew.
func (b block) load(at Mem) {
	VMOVDQU(at, b[0])
	VMOVDQU(at.Offset(32), b[1])
}

// each applies op to both halves.
func (b block) each(op func(half, to VecVirtual)) block {
	r := block{YMM(), YMM()}
	for i := range b {
		op(b[i], r[i])
	}
	return r
}

// is marks the bytes equal to c.
func (b block) is(c byte) block {
	k := filled(c)
	return b.each(func(half, to VecVirtual) { VPCMPEQB(k, half, to) })
}

// kept is a constant in a register.
func kept(t Mem) VecVirtual {
	v := VecVirtual(YMM())
	VMOVDQU(t, v)
	return v
}

// below marks the bytes less than c as signed numbers, so all beyond ASCII too.
func (b block) below(c byte) block { return b.under(kept(filled(c))) }

// under is below with its constant.
func (b block) under(k VecVirtual) block {
	return b.each(func(half, to VecVirtual) { VPCMPGTB(half, k, to) })
}

// listed marks the bytes that the table holds at the place of their lower half.
func (b block) listed(table Mem) block { return b.found(kept(table)) }

// found is listed with its table.
func (b block) found(table VecVirtual) block {
	return b.each(func(half, to VecVirtual) {
		VPSHUFB(half, table, to)
		VPCMPEQB(half, to, to)
	})
}

func (b block) or(c block) block {
	for i := range b {
		VPOR(c[i], b[i], b[i])
	}
	return b
}

// mask gathers the top bits of all bytes.
func (b block) mask() GPVirtual {
	low, high := GP64(), GP64()
	VPMOVMSKB(b[0], low.As32())
	VPMOVMSKB(b[1], high.As32())
	SHLQ(Imm(32), high)
	ORQ(high, low)
	return low
}

var tables = map[string]Mem{}

// filled is a constant of 32 equal bytes.
func filled(c byte) Mem {
	var t [16]byte
	for i := range t {
		t[i] = c
	}
	return table("byte"+hex(c), t)
}

// table is a constant of 16 bytes, twice.
func table(name string, t [16]byte) Mem {
	if m, ok := tables[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 4 {
		DATA(8*i, U64(binary.LittleEndian.Uint64(t[i%2*8:])))
	}
	tables[name] = m
	return m
}

func hex(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}

// byLowHalf lays out a table for listed. Places of no byte hold one that is found
// at another place, so that nothing equals it.
func byLowHalf(name string, chars ...byte) Mem {
	var t [16]byte
	for i := range t {
		t[i] = byte(i) ^ 1
	}
	for _, c := range chars {
		t[c&15] = c
	}
	return table(name, t)
}

// simpleEscapes marks the bytes that may follow a backslash, but for u: each is
// known by a bit that the tables of its lower and its upper half have in common.
func (b block) simpleEscapes() block {
	var low, high [16]byte
	bits := map[byte]byte{2: 1, 5: 2, 6: 4, 7: 8}
	for _, c := range []byte(`"/\bfnrt`) {
		low[c&15] |= bits[c>>4]
		high[c>>4] = bits[c>>4]
	}
	l, h := VecVirtual(YMM()), VecVirtual(YMM())
	VMOVDQU(table("escapesLow", low), l)
	VMOVDQU(table("escapesHigh", high), h)
	zero := VecVirtual(YMM())
	VPXOR(zero, zero, zero)
	return b.each(func(half, to VecVirtual) {
		byHigh := YMM()
		VPSRLW(Imm(4), half, byHigh)
		VPAND(filled(15), byHigh, byHigh)
		VPSHUFB(byHigh, h, byHigh)
		VPSHUFB(half, l, to)
		VPAND(byHigh, to, to)
		VPCMPGTB(zero, to, to)
	})
}

// escapedBy turns the mask of backslashes into that of the bytes they escape, and
// carry, 0 or 1, into whether the first byte of the next block is one of them.
// In a run of backslashes every second one is escaped: a run that begins at an odd
// place is told from one that begins at an even place by adding its beginning,
// which carries through it.
func escapedBy(backslashes, carry Register) GPVirtual {
	follows, starts, even, next := GP64(), GP64(), GP64(), GP64()
	MOVQ(carry, follows)
	NOTQ(follows)
	ANDQ(follows, backslashes) // an escaped backslash escapes nothing
	LEAQ(Mem{Base: carry, Index: backslashes, Scale: 2}, follows)
	MOVQ(U64(0x5555555555555555), even)
	MOVQ(even, starts)
	ORQ(follows, starts)
	NOTQ(starts)
	ANDQ(backslashes, starts)
	XORQ(next, next)
	ADDQ(backslashes, starts)
	ADCQ(Imm(0), next)
	MOVQ(next, carry)
	ADDQ(starts, starts)
	XORQ(even, starts)
	ANDQ(follows, starts)
	return starts
}

// insideOf turns the mask of quotes into that of the bytes from an opening quote to
// before the closing one. inside is all ones if the block begins in a string, and
// becomes so for the next. A product without carries adds up all bits below each.
func insideOf(quotes, inside Register) GPVirtual {
	q, all, str := XMM(), XMM(), GP64()
	VMOVQ(quotes, q)
	VPCMPEQD(all, all, all)
	VPCLMULQDQ(Imm(0), all, q, q)
	VMOVQ(q, str)
	XORQ(inside, str)
	MOVQ(str, inside)
	SARQ(Imm(63), inside)
	return str
}
