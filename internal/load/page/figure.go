package page

import (
	"math"
	"strconv"
	"strings"

	"github.com/correlator-go/correlator/internal/load/report"
)

// figure is a number and its unit, apart so that both can be aligned. An empty
// Unit is none.
type figure struct{ Num, Unit string }

// String is the figure as running text: a no-break space stands before a unit that
// is a word.
func (f figure) String() string {
	switch f.Unit {
	case "":
		return f.Num
	case "%", "/s":
		return f.Num + f.Unit
	}
	return f.Num + "\u00a0" + f.Unit
}

// absent stands where nothing was measured.
var absent = figure{Num: "–"}

// latency prints nanoseconds with three digits, which is what the histograms hold.
func latency(ns float64) figure {
	v := max(ns, 0)
	units := [...]string{"ns", "µs", "ms", "s"}
	unit := 0
	for unit < len(units)-1 && v >= 999.5 {
		v /= 1000
		unit++
	}
	if unit == 0 {
		return figure{strconv.FormatFloat(v, 'f', 0, 64), units[0]}
	}
	return figure{three(v), units[unit]}
}

// three prints v, which is not negative, with three digits or all before the point.
func three(v float64) string {
	digits := 0
	switch {
	case v < 9.995:
		digits = 2
	case v < 99.95:
		digits = 1
	case v >= 999.5:
		return report.Grouped(int64(math.Min(v+0.5, math.MaxInt64/2)))
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// count prints n with a comma every three digits.
func count(n int64) figure { return figure{Num: report.Grouped(n)} }

// perSecond prints a rate, with a digit after the point where it is small.
func perSecond(v float64) figure {
	if v < 99.95 {
		return figure{strings.TrimSuffix(strconv.FormatFloat(max(v, 0), 'f', 1, 64), ".0"), "/s"}
	}
	return figure{three(math.Round(v)), "/s"}
}

// share prints n of all as a percentage.
func share(n, all int64) figure {
	if all <= 0 || n == 0 {
		return figure{"0", "%"}
	}
	v := float64(n) / float64(all) * 100
	if v < 0.001 {
		return figure{"<0.001", "%"}
	}
	if v < 0.1 {
		return figure{strconv.FormatFloat(v, 'f', 3, 64), "%"}
	}
	return figure{strings.TrimSuffix(three(v), ".00"), "%"}
}

// small prints a figure per call, which may lie far below 1.
func small(v float64) string {
	switch {
	case v <= 0:
		return "0"
	case v < 0.001:
		return "<0.001"
	case v < 1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return three(v)
}

// change prints how b differs from a, in percent of a.
func change(a, b float64) figure {
	switch {
	case a == b:
		return figure{"±0", "%"}
	case a <= 0:
		return absent
	}
	v := (b - a) / a * 100
	sign := "+"
	if v < 0 {
		sign = "\u2212" // as wide as the plus
	}
	v = math.Abs(v)
	digits := 1
	if v >= 99.95 {
		digits = 0
	}
	return figure{sign + strconv.FormatFloat(math.Min(v, 1e9), 'f', digits, 64), "%"}
}

// length prints seconds that a person counts: 500 ms, 30 s, 1 h 30 min.
func length(seconds float64) string {
	switch {
	case seconds < 1:
		return roundLatency(seconds * 1e9)
	case seconds < 60:
		return strings.TrimSuffix(strconv.FormatFloat(seconds, 'f', 1, 64), ".0") + "\u00a0s"
	}
	n := int64(math.Min(seconds+0.5, 1e15))
	var parts []string
	for _, unit := range []struct {
		n    int64
		name string
	}{{n / 3600, "h"}, {n / 60 % 60, "min"}, {n % 60, "s"}} {
		if unit.n > 0 {
			parts = append(parts, report.Grouped(unit.n)+"\u00a0"+unit.name)
		}
	}
	return strings.Join(parts, " ")
}

// coordinate prints a place in a drawing.
func coordinate(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
