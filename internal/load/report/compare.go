package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/correlator-go/correlator/internal/load/noise"
	"github.com/correlator-go/correlator/internal/load/slo"
)

// ComparisonSchema names the form of a Comparison.
const ComparisonSchema = "correlator-loadgen-comparison/1"

// Comparison is what changed between two sides, each of one or more runs.
type Comparison struct {
	Schema string `json:"schema"`
	Before Side   `json:"before"`
	After  Side   `json:"after"`
	// Seconds says that each side is one run, whose seconds stand for repetitions:
	// what differs from run to run is not seen.
	Seconds bool     `json:"seconds"`
	Changes []Change `json:"changes"`
	Notes   []string `json:"notes"`
	Exit    int      `json:"exit"` // 0, or 3 if something got worse by more than was allowed
}

// Side is one side's runs.
type Side struct {
	Runs   []string `json:"runs"` // where they were read from
	Config Config   `json:"config"`
	Tool   Tool     `json:"tool"`
}

// Estimate is a figure with its confidence interval of 95 %, nulls if there is none.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Change is one metric.
type Change struct {
	Metric string   `json:"metric"`
	Before Estimate `json:"before"`
	After  Estimate `json:"after"`
	// Ratio is that of after to before; null where before is 0 and after is not.
	Ratio *Estimate `json:"ratio"`
	// Verdict is "better", "worse", "same", "within noise", or "not tested" where one
	// run a side tells nothing of the noise.
	Verdict string `json:"verdict"`
	// Allowed is the share by which it may get worse, null if nothing was said.
	Allowed   *float64 `json:"allowed"`
	Regressed bool     `json:"regressed"` // it got worse by more than that, and that is not noise

	goal slo.Goal
}

// The verdicts.
const (
	Better    = "better"
	Worse     = "worse"
	Same      = "same"
	Within    = "within noise"
	NotTested = "not tested"
)

// compared are the metrics that every comparison has.
const compared = "rate>0,p50<1s,p90<1s,p99<1s,p99.9<1s,max<1s,service.p50<1s,service.p99<1s,error<1%,cpu<1s,allocs<1,bytes<1,writes<1"

// Limit is how much worse a metric may get.
type Limit struct {
	Metric string
	Worse  float64 // a share: 0.05 is 5 %
}

// ParseLimits reads "p99=5%,rate=2%".
func ParseLimits(text string) ([]Limit, error) {
	var out []Limit
	for part := range strings.SplitSeq(text, ",") {
		name, share, found := strings.Cut(strings.TrimSpace(part), "=")
		number, percent := strings.CutSuffix(share, "%")
		var v float64
		_, err := fmt.Sscanf(number+"\n", "%g\n", &v)
		if !found || !percent || err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("limit %q: want METRIC=PERCENT, such as p99=5%%", part)
		}
		if _, err := goalOf(name); err != nil {
			return nil, fmt.Errorf("limit %q: %w", part, err)
		}
		out = append(out, Limit{name, v / 100})
	}
	return out, nil
}

// goalOf is a goal about metric, for Document.Measure.
func goalOf(metric string) (slo.Goal, error) {
	var err error
	for _, limit := range []string{"<1%", "<1s", "<1"} { // what its unit is, only slo knows
		var goals []slo.Goal
		if goals, err = slo.Parse(metric + limit); err == nil {
			return goals[0], nil
		}
	}
	return slo.Goal{}, err
}

var errNoRuns = errors.New("a side without runs")

// Compare compares two sides. Runs that failed or do not add up are refused: their
// figures mean nothing.
func Compare(before, after []*Document, names [2][]string, limits []Limit) (*Comparison, error) {
	for i, side := range [][]*Document{before, after} {
		if len(side) == 0 {
			return nil, errNoRuns
		}
		for k, d := range side {
			if d.Exit == 1 {
				return nil, fmt.Errorf("%s: the run failed or does not add up: it cannot be compared", names[i][k])
			}
		}
	}
	c := &Comparison{
		Schema:  ComparisonSchema,
		Before:  Side{names[0], before[0].Config, before[0].Tool},
		After:   Side{names[1], after[0].Config, after[0].Tool},
		Seconds: len(before) == 1 && len(after) == 1, Notes: []string{}, Changes: []Change{},
	}
	goals, err := slo.Parse(compared)
	if err != nil {
		return nil, err // impossible: the text is ours
	}
	for _, limit := range limits {
		if !slices.ContainsFunc(goals, func(g slo.Goal) bool { return g.Metric == limit.Metric }) {
			g, err := goalOf(limit.Metric)
			if err != nil {
				return nil, err
			}
			goals = append(goals, g)
		}
	}
	for _, g := range goals {
		change, known, err := c.change(g, before, after)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(limits, func(l Limit) bool { return l.Metric == g.Metric })
		if !known {
			if i >= 0 {
				return nil, fmt.Errorf("%s was not measured in every run", g.Metric)
			}
			continue
		}
		if i >= 0 {
			change.judge(limits[i].Worse)
		}
		if change.Regressed {
			c.Exit = 3
		}
		c.Changes = append(c.Changes, change)
	}
	c.note(before, after)
	return c, nil
}

// change compares one metric; known is false where a run has not measured it.
func (c *Comparison) change(g slo.Goal, before, after []*Document) (change Change, known bool, err error) {
	change = Change{Metric: g.Metric, goal: g}
	var sides [2]noise.Side
	tested := true
	for i, runs := range [][]*Document{before, after} {
		values := make([]float64, len(runs))
		for k, d := range runs {
			v, ok := d.Measure(g)
			if !ok || math.IsNaN(v) {
				return change, false, nil
			}
			values[k] = v
		}
		sides[i] = noise.Medians(values)
		if c.Seconds {
			side, ok, err := seconds(runs[0], g)
			if err != nil {
				return change, false, err
			}
			if tested = tested && ok; ok {
				sides[i] = side
			}
		}
	}
	n := noise.Compare(sides[0], sides[1])
	change.Before, change.After = Estimate{Value: n.A.Value}, Estimate{Value: n.B.Value}
	if tested {
		change.Before, change.After = estimate(n.A), estimate(n.B)
	}
	if !math.IsInf(n.Ratio.Value, 0) {
		ratio := Estimate{Value: n.Ratio.Value}
		if tested && !math.IsInf(n.Ratio.High, 0) {
			ratio = estimate(n.Ratio)
		}
		change.Ratio = &ratio
	}
	up := n.Ratio.Value > 1
	switch {
	case n.A.Value == n.B.Value:
		change.Verdict = Same
	case !tested:
		change.Verdict = NotTested
	case n.Noise():
		change.Verdict = Within
	case up == higherIsBetter(g.Metric):
		change.Verdict = Better
	default:
		change.Verdict = Worse
	}
	return change, true, nil
}

func higherIsBetter(metric string) bool { return metric == "rate" || metric == "offered" }

func estimate(i noise.Interval) Estimate { return Estimate{i.Value, &i.Low, &i.High} }

// judge notes what is allowed, and whether that was exceeded.
func (c *Change) judge(allowed float64) {
	c.Allowed = &allowed
	if c.Verdict != Worse && c.Verdict != NotTested {
		return
	}
	worse := math.Inf(1)
	if c.Ratio != nil {
		worse = c.Ratio.Value - 1
		if higherIsBetter(c.Metric) {
			worse = 1 - c.Ratio.Value
		}
	}
	c.Regressed = worse > allowed
}

// note says what a reader could take wrongly.
func (c *Comparison) note(before, after []*Document) {
	say := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	switch few := min(len(before), len(after)); {
	case c.Seconds:
		say("one run a side: its seconds stand for repetitions, so what differs from run to run is not seen; repeat and interleave")
	case few < noise.Enough:
		say("%d runs on a side: below %d the intervals are too narrow to be trusted", few, noise.Enough)
	}
	all := append(slices.Clone(before), after...)
	for _, part := range []struct {
		of   string
		take func(*Document) any
	}{{"asked", func(d *Document) any { return d.Config }}, {"measured", func(d *Document) any { return d.Tool }}} {
		differing := map[string]bool{}
		for _, d := range all[1:] {
			for name := range differences(part.take(all[0]), part.take(d)) {
				differing[name] = true
			}
		}
		for _, ours := range []string{"args", "peer", "version"} { // they may: it is why one compares
			delete(differing, ours)
		}
		if len(differing) > 0 {
			say("the runs were not %s alike: %s differ", part.of, strings.Join(slices.Sorted(maps.Keys(differing)), ", "))
		}
	}
}

// differences are the members in which the JSON of two structs differs.
func differences(a, b any) map[string]bool {
	out := map[string]bool{}
	left, right := members(a), members(b)
	for name := range left {
		if !reflect.DeepEqual(left[name], right[name]) {
			out[name] = true
		}
	}
	return out
}

func members(v any) (out map[string]any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err) // our own structs
	}
	return out
}
