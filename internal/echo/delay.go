package echo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Distribution names a law of delays.
type Distribution uint8

// The laws. The parameters are those of [Delay].
const (
	NoDelay     Distribution = iota // answer at once
	Constant                        // always Scale
	Exponential                     // mean Scale
	LogNormal                       // median Scale, standard deviation of the logarithm Spread
	Pareto                          // least value Scale, tail index Spread (smaller: heavier)
)

// delayMax bounds a drawn delay: a heavy tail has no bound of its own, and a
// request that waits longer than this is a blackhole by another name.
const delayMax = 5 * time.Minute

// Delay is how long an answer is held back.
type Delay struct {
	Distribution Distribution
	Scale        time.Duration
	Spread       float64
}

// ParseDelay reads "const:5ms", "exp:5ms", "lognormal:5ms,0.5",
// "pareto:1ms,1.5", or a bare duration, which is constant. "" is no delay.
func ParseDelay(text string) (Delay, error) {
	if text == "" {
		return Delay{}, nil
	}
	law, rest, found := strings.Cut(text, ":")
	if !found {
		law, rest = "const", text
	}
	scale, spread, hasSpread := strings.Cut(rest, ",")
	var d Delay
	var err error
	if d.Scale, err = time.ParseDuration(scale); err != nil || d.Scale < 0 {
		return Delay{}, fmt.Errorf("delay %q: %q is not a duration such as 5ms", text, scale)
	}
	if hasSpread {
		if d.Spread, err = strconv.ParseFloat(spread, 64); err != nil || !(d.Spread > 0) || math.IsInf(d.Spread, 0) {
			return Delay{}, fmt.Errorf("delay %q: %q is not a number above 0", text, spread)
		}
	}
	switch law {
	case "const":
		d.Distribution = Constant
	case "exp":
		d.Distribution = Exponential
	case "lognormal":
		d.Distribution = LogNormal
	case "pareto":
		d.Distribution = Pareto
	default:
		return Delay{}, fmt.Errorf("delay %q: unknown law %q (const, exp, lognormal, pareto)", text, law)
	}
	if wants := d.Distribution == LogNormal || d.Distribution == Pareto; wants != hasSpread {
		return Delay{}, fmt.Errorf("delay %q: want const:SCALE, exp:MEAN, lognormal:MEDIAN,SIGMA or pareto:LEAST,ALPHA", text)
	}
	return d, nil
}

// String returns the text that ParseDelay reads.
func (d Delay) String() string {
	switch d.Distribution {
	case Constant:
		return "const:" + d.Scale.String()
	case Exponential:
		return "exp:" + d.Scale.String()
	case LogNormal:
		return fmt.Sprintf("lognormal:%v,%v", d.Scale, d.Spread)
	case Pareto:
		return fmt.Sprintf("pareto:%v,%v", d.Scale, d.Spread)
	}
	return ""
}

// draw takes one delay.
func (d Delay) draw(r *rand.Rand) time.Duration {
	scale := float64(d.Scale)
	var v float64
	switch d.Distribution {
	case Constant:
		v = scale
	case Exponential:
		v = scale * r.ExpFloat64()
	case LogNormal:
		v = scale * math.Exp(d.Spread*r.NormFloat64())
	case Pareto:
		v = scale / math.Pow(1-r.Float64(), 1/d.Spread)
	}
	return time.Duration(min(v, float64(delayMax)))
}
