package progress

import (
	"cmp"
	"math"
	"strconv"
)

// Number is a JSON number as a reporter gave it: an integer with all its digits,
// or a fraction. The zero value is no number. Numbers are compared with
// [Number.Compare], not with ==, since 1 and 1.0 are one value.
type Number struct {
	kind  numberKind
	whole int64
	real  float64
}

type numberKind uint8

const (
	noNumber numberKind = iota
	wholeNumber
	realNumber
)

// Int is n as a Number.
func Int(n int64) Number { return Number{kind: wholeNumber, whole: n} }

// Float is f as a Number. NaN and the infinities are none that JSON has; a report
// with one is refused.
func Float(f float64) Number { return Number{kind: realNumber, real: f} }

// IsZero reports whether n is no number at all. The number 0 is one.
func (n Number) IsZero() bool { return n.kind == noNumber }

// Valid reports whether n can be written in JSON.
func (n Number) Valid() bool {
	switch n.kind {
	case wholeNumber:
		return true
	case realNumber:
		return !math.IsNaN(n.real) && !math.IsInf(n.real, 0)
	default:
		return false
	}
}

// Float64 is the nearest float64; 0 for no number.
func (n Number) Float64() float64 {
	if n.kind == wholeNumber {
		return float64(n.whole)
	}
	return n.real
}

// Compare orders two valid numbers by their value, exactly, whatever they were
// made of.
func (n Number) Compare(m Number) int {
	switch {
	case n.kind == wholeNumber && m.kind == wholeNumber:
		return cmp.Compare(n.whole, m.whole)
	case n.kind == wholeNumber:
		return compareMixed(n.whole, m.real)
	case m.kind == wholeNumber:
		return -compareMixed(m.whole, n.real)
	default:
		return cmp.Compare(n.real, m.real)
	}
}

// compareMixed does not turn the integer into a float: above 2^53 that would make
// neighbours equal.
func compareMixed(n int64, f float64) int {
	const edge = 1 << 63
	switch {
	case f >= edge:
		return -1
	case f < -edge:
		return 1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(n, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(whole, f)
}

// Append appends the JSON text of n: an integer for a whole value, so that 2.0 is
// written 2. Nothing is appended for what is not Valid.
func (n Number) Append(dst []byte) []byte {
	switch {
	case !n.Valid():
		return dst
	case n.kind == wholeNumber:
		return strconv.AppendInt(dst, n.whole, 10)
	case n.real == 0:
		return append(dst, '0') // -0 as well
	case math.Abs(n.real) >= 1e21 || math.Abs(n.real) < 1e-6:
		return strconv.AppendFloat(dst, n.real, 'e', -1, 64)
	default:
		return strconv.AppendFloat(dst, n.real, 'f', -1, 64)
	}
}

// String is the JSON text of n, "none" for no number.
func (n Number) String() string {
	switch {
	case n.kind == noNumber:
		return "none"
	case !n.Valid():
		return strconv.FormatFloat(n.real, 'g', -1, 64)
	default:
		return string(n.Append(nil))
	}
}
