package report

import (
	"strconv"
	"time"

	"github.com/correlator-go/correlator/internal/load/slo"
)

// Grouped prints n with a comma every three digits.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Counted is n things: "1 call", "1,024 calls". The word takes an s.
func Counted(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Grouped(n) + " " + word + "s"
}

// perSecond prints a rate with commas, and with a digit after the point where it
// is small.
func perSecond(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Grouped(int64(v + 0.5))
}

// share prints n of all as a percentage of three digits.
func share(n, all int64) string {
	if all == 0 {
		return "0%"
	}
	return strconv.FormatFloat(float64(n)/float64(all)*100, 'g', 3, 64) + "%"
}

// small prints a figure per call: three digits, no exponent.
func small(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.001:
		return "<0.001"
	case v < 1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Grouped(int64(v + 0.5))
}

func ns(v int64) string { return slo.Round(time.Duration(v)).String() }
