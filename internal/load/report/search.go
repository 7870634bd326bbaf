package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/correlator-go/correlator/internal/load/search"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// SearchSchema names the form of a Search.
const SearchSchema = "correlator-loadgen-search/1"

// keepsUp is the share of the rate asked for that must be sent for a probe to say
// anything about that rate.
const keepsUp = 0.99

// Search is the search for the highest rate at which goals hold.
type Search struct {
	Schema string  `json:"schema"`
	Tool   Tool    `json:"tool"`
	Began  string  `json:"began"` // RFC 3339
	Config Config  `json:"config"`
	Goals  string  `json:"goals"` // in the words of -slo
	Probes []Probe `json:"probes"`
	// Rate is the answer, in requests per second: the highest that held. It is null
	// if none did, or the search did not come so far.
	Rate *float64 `json:"rate"`
	// Above is the lowest rate that did not hold; null if all did.
	Above *float64 `json:"above"`
	// Verdict says the same in a sentence.
	Verdict string `json:"verdict"`
	Error   string `json:"error"` // why it ended early, "" if it did not
	Exit    int    `json:"exit"`  // 0 if there is an answer, 1 on an error, 3 if no rate holds
}

// Probe is one rate, tried.
type Probe struct {
	Rate       float64 `json:"rate"`
	Holds      bool    `json:"holds"`
	Why        string  `json:"why"`        // it does not, "" if it does
	Repeated   bool    `json:"repeated"`   // the rate had failed just before
	Confirming bool    `json:"confirming"` // the rate was the answer, tried once more
	// Generator says that the generator itself sent more than 1 % of the requests
	// behind their time: it, not the peer, may be what does not hold.
	Generator bool          `json:"generatorBehind"`
	Offered   float64       `json:"offered"`
	Answered  float64       `json:"answered"`
	Counts    Counts        `json:"counts"`
	Response  tally.Summary `json:"response"`
	Service   tally.Summary `json:"service"`
	SLO       []SLO         `json:"slo"`
}

// NewSearch returns a search without probes for goals, in the words they were given.
func NewSearch(c Config, goals string) *Search {
	c.Loop = "search"
	return &Search{Schema: SearchSchema, Tool: thisTool(), Began: time.Now().Format(time.RFC3339), Config: c, Goals: goals, Probes: []Probe{}}
}

// Add judges a run at rate. A rate holds if every goal was met and the requests
// were sent at that rate.
func (s *Search) Add(rate float64, d *Document, repeated, confirming bool) *Probe {
	p := Probe{
		Rate: rate, Holds: true, Repeated: repeated, Confirming: confirming, Offered: d.Rates.Offered, Answered: d.Rates.Answered,
		Counts: d.Counts, Response: d.Latency.Response.Summary, Service: d.Latency.Service.Summary, SLO: d.SLO,
		Generator: generatorBehind(d.Counts),
	}
	var why []string
	for _, goal := range d.SLO {
		if !goal.Pass {
			why = append(why, goal.Goal+" is "+goal.Text)
		}
	}
	if d.Rates.Offered < keepsUp*d.Rates.Asked {
		why = append(why, fmt.Sprintf("only %s/s were sent", perSecond(d.Rates.Offered)))
	}
	if d.Error != "" {
		why = append(why, d.Error)
	}
	p.Why = strings.Join(why, "; ")
	p.Holds = len(why) == 0
	s.Probes = append(s.Probes, p)
	return &s.Probes[len(s.Probes)-1]
}

// Fail notes why the search ends early: what is wrong with the last probe's run.
func (s *Search) Fail(d *Document) {
	switch {
	case len(d.Problems) > 0:
		s.Error = "does not add up: " + strings.Join(d.Problems, "; ")
	case d.Error != "":
		s.Error = d.Error
	default:
		s.Error = "interrupted"
	}
}

// Answer takes over what f found, and sets the verdict and the exit code.
func (s *Search) Answer(f *search.Finder) {
	rate, found := f.Answer()
	if found {
		s.Rate = &rate
	}
	above, some := f.Failed()
	if some {
		s.Above = &above
	}
	switch {
	case s.Error != "":
		s.Exit = 1
		s.Verdict = "no answer: the search ended early"
		if found {
			s.Verdict = fmt.Sprintf("no answer: the search ended early; until then %s/s held", perSecond(rate))
		}
	case !found:
		s.Exit = 3
		s.Verdict = fmt.Sprintf("no rate holds %s: %s/s does not", s.Goals, perSecond(above))
	case !some:
		s.Verdict = fmt.Sprintf("%s/s holds %s, and nothing that was tried does not", perSecond(rate), s.Goals)
	default:
		s.Verdict = fmt.Sprintf("%s/s is the highest rate that holds %s: %s/s does not", perSecond(rate), s.Goals, perSecond(above))
	}
	if found && some && s.blamesGenerator(above) {
		s.Verdict += " (there the generator was behind: the peer may carry more)"
	}
}

// blamesGenerator reports whether the generator was behind in every probe of rate.
func (s *Search) blamesGenerator(rate float64) bool {
	all, any := true, false
	for _, p := range s.Probes {
		if p.Rate == rate {
			all, any = all && p.Generator, true
		}
	}
	return all && any
}

// Heading writes what stands above the probes.
func (s *Search) Heading(w io.Writer) error {
	if err := Heading(w, s.Config); err != nil {
		return err
	}
	p := &printer{w: w}
	p.line("search", "the highest rate that holds %s; each probe %v after %v of warm-up", s.Goals, short(s.Config.Duration), short(s.Config.Warmup))
	return p.err
}

// Text writes the probe as a line.
func (p *Probe) Text(w io.Writer, style Style) error {
	verdict := style.good("holds")
	if !p.Holds {
		verdict = style.bad("fails") + ": " + p.Why
	}
	switch {
	case p.Repeated:
		verdict += " (again)"
	case p.Confirming:
		verdict += " (once more)"
	}
	out := &printer{w: w}
	latency := fmt.Sprintf("%10s%10s%10s", "-", "-", "-")
	if p.Response.Count > 0 {
		latency = fmt.Sprintf("%10s%10s%10s", ns(p.Response.P50), ns(p.Response.P99), ns(p.Response.P999))
	}
	out.line("probe", "%12s/s   p50 p99 p99.9%s   %s", perSecond(p.Rate), latency, verdict)
	return out.err
}

// Text writes the answer.
func (s *Search) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	if s.Error != "" {
		p.line("error", "%s", style.bad(s.Error))
	}
	p.line("answer", "%s", s.Verdict)
	return p.err
}

// Write writes s as indented JSON.
func (s *Search) Write(w io.Writer) error { return writeJSON(w, s) }
