package codec

import (
	"encoding/binary"
	"math/bits"
)

const (
	tenTo8  = 1_0000_0000
	tenTo16 = tenTo8 * tenTo8
)

// putDigits writes the decimal digits of n, which is below 10^16, to b, and
// returns how many. b has room for eight bytes behind the digits before the last
// eight.
func putDigits(b []byte, n uint64) int {
	at := 0
	if n >= tenTo8 {
		high := n / tenTo8
		at = putLeading(b, high)
		binary.LittleEndian.PutUint64(b[at:], eightDigitBytes(n-high*tenTo8)|'0'*lowBits)
		return at + 8
	}
	return putLeading(b, n)
}

// putLeading writes the digits of n, which is below 10^8, without leading zeros.
func putLeading(b []byte, n uint64) int {
	w := eightDigitBytes(n)
	zeros := bits.TrailingZeros64(w|1<<56) &^ 7 // one digit stays, a 0 too
	binary.LittleEndian.PutUint64(b, (w|'0'*lowBits)>>zeros)
	return 8 - zeros/8
}

// eightDigitBytes is n, below 10^8, as eight decimal digits, one a byte, the most
// significant in the lowest: divided into halves, quarters and single digits, all
// of a size at once.
func eightDigitBytes(n uint64) uint64 {
	high := n / 10000
	halves := high | (n-high*10000)<<32
	high = halves * 10486 >> 20 & (0x7f<<32 | 0x7f) // a hundredth
	quarters := high | (halves-high*100)<<16
	high = quarters * 103 >> 10 & (0xf<<48 | 0xf<<32 | 0xf<<16 | 0xf) // a tenth
	return high | (quarters-high*10)<<8
}
