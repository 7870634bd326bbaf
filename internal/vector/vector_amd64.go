//go:build amd64 && !correlator_portable

package vector

import (
	"unicode/utf8"

	asm "github.com/segmentio/asm/utf8"
	"golang.org/x/sys/cpu"
)

var available = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPCLMULQDQ && cpu.X86.HasPOPCNT

// Available reports whether the processor has what the assembly needs: AVX2, BMI1,
// BMI2, PCLMULQDQ and POPCNT. Without it the plain twins do the work, slower than
// code that is not made of blocks.
func Available() bool { return available }

func classifyBlocks(b []byte, s *State, out []Masks) {
	if len(out) > 0 {
		classifyAVX2(&b[0], len(out), &s.inside, &out[0][0])
	}
}

func textBlocks(b []byte) (int, bool) {
	n, escapes := textAVX2(&b[0], len(b))
	return n, escapes != 0
}

func lineEndBlocks(b []byte, blocks int) int { return lineEndAVX2(&b[0], blocks) }

func crossFast(b []byte, blocks, deepest int, s *crossState) int {
	return crossAVX2(&b[0], blocks, deepest, &s.inside)
}

// ValidUTF8 reports whether b is UTF-8.
func ValidUTF8(b []byte) bool {
	if !available {
		return utf8.Valid(b)
	}
	for len(b) > most {
		n := most
		for k := 0; k < 3 && b[n]&0xc0 == 0x80; k++ { // not in the middle of a character
			n--
		}
		if !asm.Valid(b[:n]) {
			return false
		}
		b = b[n:]
	}
	return asm.Valid(b)
}
