package claim

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// report is what became of one claim.
type report struct {
	Area     string   `json:"area"`
	Name     string   `json:"name"`
	Bound    string   `json:"bound"`
	Demand   *float64 `json:"demand,omitempty"`
	Measured *float64 `json:"measured,omitempty"`
	Unit     string   `json:"unit,omitempty"`
	Verdict  Verdict  `json:"verdict"`
	Error    string   `json:"error,omitempty"`
}

// check measures the claim, unless it is only listed.
func (c Claim) check(s *Session, listed bool) report {
	r := report{Area: c.Area, Name: c.Name, Bound: c.Bound.String(), Unit: c.Unit, Verdict: ShownOK}
	if c.Bound != Shown {
		r.Demand = &c.Demand
	}
	if listed {
		r.Verdict = ""
		return r
	}
	measured, err := c.Measure(s)
	if err != nil {
		r.Verdict, r.Error = Failed, err.Error()
		return r
	}
	r.Verdict = c.Judge(measured)
	if math.IsNaN(measured) || math.IsInf(measured, 0) {
		r.Verdict, r.Error = Failed, "no value"
		return r
	}
	r.Measured = &measured
	return r
}

// full is the claim's name with its area.
func (r report) full() string { return r.Area + ": " + r.Name }

// text is the report for people: area, claim, demanded, measured, verdict.
func (r report) text() string {
	s := fmt.Sprintf("%-7s %-72s %18s %18s  %s", r.Area, r.Name, r.demanded(), r.measured(), r.Verdict)
	if r.Error != "" {
		s += ": " + r.Error
	}
	return strings.TrimSpace(s)
}

// row is the report as a row of a table in Markdown.
func (r report) row() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", r.Area, r.Name, r.demanded(), r.measured(), r.Verdict)
}

// json is the report as the package text describes it.
func (r report) json() string {
	b, err := json.Marshal(r)
	if err != nil { // nothing in it can fail
		panic(err)
	}
	return string(b)
}

func (r report) demanded() string {
	if r.Demand == nil {
		return ""
	}
	sign := "≤ "
	if r.Bound == AtLeast.String() {
		sign = "≥ "
	}
	return sign + r.number(*r.Demand)
}

func (r report) measured() string {
	if r.Measured == nil {
		return ""
	}
	return r.number(*r.Measured)
}

// number writes a value with its unit, in three significant digits, and whole
// beyond that. Long times get a longer unit.
func (r report) number(v float64) string {
	if r.Unit == "ns" && math.Abs(v) >= 1e4 {
		return time.Duration(v).Round(time.Duration(math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2))).String()
	}
	format, digits := byte('g'), 3
	if math.Abs(v) >= 1000 {
		format, digits = 'f', 0
	}
	s := strconv.FormatFloat(v, format, digits, 64)
	switch r.Unit {
	case "of its time", "of its rate", "of its speed", "of uniform", "of it":
		return s
	case "times":
		return s + "×"
	}
	return s + " " + r.Unit
}
