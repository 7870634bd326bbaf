package slo

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Judge compares each goal with what measure says of it; measure returns a value
// in the goal's unit, and false where there is none. Verdicts come in the order
// of the goals.
func Judge(goals []Goal, measure func(Goal) (float64, bool)) []Verdict {
	out := make([]Verdict, len(goals))
	for i, g := range goals {
		v, ok := measure(g)
		ok = ok && !math.IsNaN(v)
		out[i] = Verdict{Goal: g, Measured: v, Known: ok, Pass: ok && g.holds(v)}
	}
	return out
}

func (g Goal) holds(v float64) bool {
	switch g.Op {
	case "<":
		return v < g.Limit
	case "<=":
		return v <= g.Limit
	case ">":
		return v > g.Limit
	default:
		return v >= g.Limit
	}
}

// AllPass reports whether every verdict passed.
func AllPass(verdicts []Verdict) bool {
	return !slices.ContainsFunc(verdicts, func(v Verdict) bool { return !v.Pass })
}

// Value prints the measured value in the goal's unit, "not measured" where there
// is none.
func (v Verdict) Value() string {
	switch {
	case !v.Known:
		return "not measured"
	case v.Unit == Duration:
		return Round(time.Duration(v.Measured)).String()
	case v.Unit == Share:
		return strconv.FormatFloat(v.Measured*100, 'g', 3, 64) + "%"
	case v.Unit == PerSecond:
		return strconv.FormatFloat(v.Measured, 'f', 1, 64) + "/s"
	case v.Unit == Count:
		return strconv.FormatFloat(v.Measured, 'f', 0, 64)
	}
	return strconv.FormatFloat(v.Measured, 'g', 3, 64)
}

// Round keeps three significant digits of d, which is what the histograms hold.
func Round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
