package slo

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Unit is the kind of a goal's limit.
type Unit uint8

// The units.
const (
	Duration  Unit = iota // nanoseconds
	Share                 // of the calls, 0 to 1
	Count                 // of calls or events
	PerSecond             // calls per second
	PerCall               // things per call
)

// Goal is one condition.
type Goal struct {
	Text   string  // as it was written
	Metric string  // "p99", "service.max", "error" ...
	Op     string  // "<", "<=", ">", ">="
	Limit  float64 // in Unit
	Unit   Unit
}

// Verdict is a judged goal.
type Verdict struct {
	Goal
	Measured float64 // in Unit
	Known    bool    // it could be measured
	Pass     bool
}

var errEmpty = errors.New("no goal; want for example p99<5ms")

// Parse reads goals.
func Parse(text string) ([]Goal, error) {
	var out []Goal
	for part := range strings.SplitSeq(text, ",") {
		part = strings.ReplaceAll(strings.TrimSpace(part), " ", "")
		if part == "" {
			return nil, errEmpty
		}
		goal, err := parseGoal(part)
		if err != nil {
			return nil, fmt.Errorf("goal %q: %w", part, err)
		}
		out = append(out, goal)
	}
	return out, nil
}

func parseGoal(text string) (Goal, error) {
	at := strings.IndexAny(text, "<>")
	if at < 1 {
		return Goal{}, errors.New("want METRIC<LIMIT, with one of < <= > >=")
	}
	op, limit := text[at:at+1], text[at+1:]
	if rest, ok := strings.CutPrefix(limit, "="); ok {
		op, limit = op+"=", rest
	}
	g := Goal{Text: text, Metric: text[:at], Op: op}
	var ok bool
	if g.Unit, ok = unitOf(g.Metric); !ok {
		return Goal{}, fmt.Errorf("unknown metric %q (p50 ... p99.999, max, mean, service.p99 ..., error, timeout, lost, late, dropped, behind, rate, cpu, allocs, writes ...)", g.Metric)
	}
	var err error
	g.Limit, g.Unit, err = parseLimit(limit, g.Unit)
	return g, err
}

func unitOf(metric string) (Unit, bool) {
	if Percentile(metric) >= 0 {
		return Duration, true
	}
	switch strings.TrimPrefix(metric, "service.") {
	case "min", "mean", "max":
		return Duration, true
	}
	switch metric {
	case "error", "rejected", "timeout", "cancelled", "lost", "late", "duplicate", "unknown", "behind", "dropped", "gc":
		return Count, true
	case "rate", "offered":
		return PerSecond, true
	case "cpu":
		return Duration, true
	case "allocs", "heap", "bytes", "writes":
		return PerCall, true
	}
	return 0, false
}

// Percentile returns 99.9 for "p99.9" and "service.p99.9", and -1 for what is no
// percentile.
func Percentile(metric string) float64 {
	digits, ok := strings.CutPrefix(strings.TrimPrefix(metric, "service."), "p")
	if !ok {
		return -1
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return -1
	}
	return v
}

func parseLimit(text string, unit Unit) (float64, Unit, error) {
	switch unit {
	case Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, 0, fmt.Errorf("limit %q: want a duration such as 5ms", text)
		}
		return float64(d), unit, nil
	case Count:
		if share, ok := strings.CutSuffix(text, "%"); ok {
			v, err := number(share)
			return v / 100, Share, err
		}
		v, err := number(text)
		if err == nil && v != math.Trunc(v) {
			// error<0.1 is meant as 0.1%, and would pass for no error at all.
			err = fmt.Errorf("limit %q: want a share such as %s%%, or a whole number", text, text)
		}
		return v, unit, err
	case PerSecond:
		text = strings.TrimSuffix(text, "/s")
		if perMinute, ok := strings.CutSuffix(text, "/m"); ok {
			v, err := number(perMinute)
			return v / 60, unit, err
		}
	}
	v, err := number(text)
	return v, unit, err
}

// number reads 4900, 0.5, 5k or 1.5M.
func number(text string) (float64, error) {
	digits, scale := text, 1.0
	if rest, ok := strings.CutSuffix(text, "k"); ok {
		digits, scale = rest, 1e3
	} else if rest, ok := strings.CutSuffix(text, "M"); ok {
		digits, scale = rest, 1e6
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("limit %q: want a number such as 4900, 5k or 1.5M", text)
	}
	return v * scale, nil
}
