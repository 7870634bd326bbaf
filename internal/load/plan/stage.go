package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Stage is a stretch of a schedule during which the rate goes evenly from From
// to To, in requests per second. Equal rates are a constant load; zero rates are
// a pause.
type Stage struct {
	For      time.Duration
	From, To float64
}

// rateMax is far above what one process can send; it catches slips of the key
// and keeps the number of requests exact in a float64.
const rateMax = 1e9

// ParseStages reads "10s:1000,30s:1000..8000,10s:0": each stage is a duration
// and a rate as [ParseRate] reads it, or two joined by "..".
func ParseStages(text string) ([]Stage, error) {
	var out []Stage
	for part := range strings.SplitSeq(text, ",") {
		length, rates, found := strings.Cut(strings.TrimSpace(part), ":")
		if !found {
			return nil, fmt.Errorf("stage %q: want DURATION:RATE or DURATION:RATE..RATE", part)
		}
		d, err := time.ParseDuration(length)
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("stage %q: %q is not a duration above 0 such as 10s", part, length)
		}
		first, last, ramp := strings.Cut(rates, "..")
		if !ramp {
			last = first
		}
		s := Stage{For: d}
		if s.From, err = ParseRate(first); err == nil {
			s.To, err = ParseRate(last)
		}
		if err != nil {
			return nil, fmt.Errorf("stage %q: %w", part, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// ParseRate reads a rate in requests per second: "5000", "5000/s", "5k", "1.5M/s",
// "300/m" or "90/h".
func ParseRate(text string) (float64, error) {
	number, unit, hasUnit := strings.Cut(strings.TrimSpace(text), "/")
	per := 1.0
	if hasUnit {
		switch unit {
		case "s":
		case "m":
			per = 60
		case "h":
			per = 3600
		default:
			return 0, fmt.Errorf("rate %q: per what? (/s, /m, /h)", text)
		}
	}
	scale := 1.0
	switch {
	case strings.HasSuffix(number, "k"):
		number, scale = strings.TrimSuffix(number, "k"), 1e3
	case strings.HasSuffix(number, "M"):
		number, scale = strings.TrimSuffix(number, "M"), 1e6
	}
	v, err := strconv.ParseFloat(number, 64)
	v = v * scale / per
	if err != nil || math.IsNaN(v) || v < 0 || v > rateMax {
		return 0, fmt.Errorf("rate %q is not a number such as 5000/s or 5k, at most %.0f a second", text, rateMax)
	}
	return v, nil
}
