package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// span is the width and the height of every drawing; the browser stretches it.
const span = 1000

// tick is a labelled place on an axis, in percent from its beginning.
type tick struct {
	At   float64
	Text string
}

// scale maps values to 0 … span.
type scale struct {
	from, to float64
	log      bool
	ticks    []tick
}

// at is where v lies, held within the drawing.
func (s *scale) at(v float64) float64 {
	from, to := s.from, s.to
	if s.log {
		v, from, to = math.Log(max(v, from)), math.Log(from), math.Log(to)
	}
	if !(to > from) {
		return 0
	}
	return min(max((v-from)/(to-from), 0), 1) * span
}

// down is at for an axis that grows upwards, as drawings grow downwards.
func (s *scale) down(v float64) float64 { return span - s.at(v) }

func (s *scale) tick(v float64, text string) {
	s.ticks = append(s.ticks, tick{percentOf(s.at(v)), text})
}

// percentOf turns a place in a drawing into percent of it.
func percentOf(at float64) float64 { return math.Round(at*100/span*100) / 100 }

// linear is a scale from 0 to at least most, with about n ticks at round values
// that name prints.
func linear(most float64, n int, name func(float64) string) scale {
	if !(most > 0) || math.IsInf(most, 0) {
		most = 1
	}
	step := round(most / float64(n))
	s := scale{to: step * math.Ceil(most/step-1e-9)}
	for i := 0.0; i*step <= s.to*(1+1e-9); i++ {
		s.tick(i*step, name(i*step))
	}
	return s
}

// round is the next 1, 2 or 5 times a power of ten.
func round(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logarithmic is a scale of latencies in nanoseconds between round values. There
// are labels at powers of ten, and between them where few fit in.
func logarithmic(least, most float64) scale {
	least = max(least, 1)
	most = max(most, least)
	up := round(most)
	down := round(least)
	if down > least {
		down = round(least / 2.5) // the round value before it
		for round(down*1.01) <= least {
			down = round(down * 1.01)
		}
	}
	if up < down*10 {
		up = max(up, round(down*1.01))
	}
	s := scale{from: down, to: up, log: true}
	s.decades()
	return s
}

// decades labels a logarithmic scale of latencies.
func (s *scale) decades() {
	sparse := math.Log10(s.to/s.from) > 2.2
	for power := math.Pow(10, math.Floor(math.Log10(s.from))); power <= s.to*1.0001; power *= 10 {
		for _, m := range []float64{1, 2, 5} {
			v := m * power
			if v < s.from*0.999 || v > s.to*1.001 || m > 1 && sparse {
				continue
			}
			s.tick(v, roundLatency(v))
		}
	}
}

// roundLatency prints a round value without the zeros behind the point.
func roundLatency(ns float64) string {
	f := latency(ns)
	if strings.Contains(f.Num, ".") {
		f.Num = strings.TrimRight(strings.TrimRight(f.Num, "0"), ".")
	}
	return f.String()
}

// clock is a scale of seconds since the beginning of the run.
func clock(end float64) scale {
	if !(end > 0) || math.IsInf(end, 0) {
		end = 1
	}
	s := scale{to: end}
	step := 0.0
	for _, step = range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400} {
		if end/step <= 6 {
			break
		}
	}
	if end/step > 6 {
		step = round(end / 6)
	}
	for i := 0.0; i*step <= end*(1+1e-9); i++ {
		s.tick(i*step, moment(i*step, end))
	}
	return s
}

// moment prints a time since the beginning of a run that lasts until end.
func moment(v, end float64) string {
	if end <= 120 {
		return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + "\u00a0s"
	}
	n := int64(math.Min(v+0.5, 1e15))
	h, m, sec := n/3600, n/60%60, n%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, sec)
	}
	return fmt.Sprintf("%d:%02d", m, sec)
}

// compact prints a count for an axis: 1,200 is 1.2k.
func compact(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= unit.of*0.9999 {
			return strconv.FormatFloat(math.Round(v/unit.of*1000)/1000, 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
