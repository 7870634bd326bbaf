package claim

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"time"
)

// DefaultRounds is how often a series runs its contenders unless asked otherwise.
const DefaultRounds = 5

// report is one claim's line.
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

// Main is the whole of a program that checks claims: it reads the flags in args,
// measures, writes the report to out and what it is doing to log, and returns the
// exit code: 0 when nothing falls short, 1 when something does or could not be
// measured, 2 when args make no sense. When args name a role, it plays that
// instead.
func Main(args []string, out, log io.Writer, claims []Claim, roles map[string]Role) int {
	if len(args) > 0 && args[0] == roleFlag {
		if err := play(args[1:], out, roles); err != nil {
			fmt.Fprintln(log, err)
			return 1
		}
		return 0
	}
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(log)
	only := flags.String("only", "", "check the claims whose \"area: name\" matches this `regexp`")
	quick := flags.Bool("quick", false, "one round of everything: a first impression, no verdict to rely on")
	rounds := flags.Int("rounds", DefaultRounds, "rounds of every series")
	list := flags.Bool("list", false, "print the claims and measure nothing")
	asJSON := flags.Bool("json", false, "print JSON, one object a claim")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	pattern, err := regexp.Compile(*only)
	if err != nil || flags.NArg() > 0 {
		fmt.Fprintln(log, "check: bad arguments:", err, flags.Args())
		return 2
	}
	if *quick {
		*rounds = 1
	}
	began := time.Now()
	session := NewSession(*rounds, log)
	checked, bad := 0, 0
	for _, c := range claims {
		if !pattern.MatchString(c.Area + ": " + c.Name) {
			continue
		}
		r := c.check(session, *list)
		checked++
		if r.Verdict == Short || r.Verdict == Failed {
			bad++
		}
		if *asJSON {
			err = json.NewEncoder(out).Encode(r)
		} else {
			_, err = fmt.Fprintln(out, r.line(c))
		}
		if err != nil {
			return 1
		}
	}
	fmt.Fprintf(log, "# %d claims, %d short or failed, %.0f s\n", checked, bad, time.Since(began).Seconds())
	if bad > 0 {
		return 1
	}
	return 0
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

// line is the report for people: area, claim, demanded, measured, verdict.
func (r report) line(c Claim) string {
	demanded, measured := "", ""
	if r.Demand != nil {
		sign := map[Bound]string{AtMost: "<=", AtLeast: ">="}[c.Bound]
		demanded = sign + " " + number(*r.Demand)
	}
	if r.Measured != nil {
		measured = number(*r.Measured)
	}
	s := fmt.Sprintf("%-7s %-66s %10s %10s  %-12s %s", r.Area, r.Name, demanded, measured, r.Unit, r.Verdict)
	if r.Error != "" {
		s += ": " + r.Error
	}
	return s
}

// number prints three significant digits, and whole numbers beyond that.
func number(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
