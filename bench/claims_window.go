package bench

import (
	"fmt"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

const engineArea = "engine"

// sized is a series of windows of one size.
type sized struct {
	name    string
	pending int
	rounds  int
	each    time.Duration
	tables  []string
}

var (
	window1k = sized{"1k pending", 1_000, 5, 150 * time.Millisecond, []string{
		engineName, naiveName, callbacksName, goSDKName, stringsName, noDeadlineName, alternatingName, cardName, cardPooledName}}
	window100k = sized{"100k pending", 100_000, 3, 250 * time.Millisecond, []string{engineName, naiveName, cardPooledName}}
	window1M   = sized{"1M pending", 1_000_000, 3, 400 * time.Millisecond, []string{engineName, naiveName, stringsName}}
)

func (w sized) series(s *claim.Session) (*claim.Series, error) {
	var contenders []claim.Contender
	for _, t := range w.tables {
		contenders = append(contenders, tableChild(s, t, w.pending, w.each, "window/1", "window/2", "window/64"))
	}
	return s.SeriesOf("window, "+w.name, w.rounds, contenders...)
}

func (w sized) ratio(a, b string, goroutines int) func(*claim.Session) (float64, error) {
	return func(s *claim.Session) (float64, error) {
		series, err := w.series(s)
		return series.Ratio(fmt.Sprintf("window/%d", goroutines), a, b), err
	}
}

func (w sized) ns(name string, goroutines int) func(*claim.Session) (float64, error) {
	return func(s *claim.Session) (float64, error) {
		series, err := w.series(s)
		return series.Median(fmt.Sprintf("window/%d", goroutines), name), err
	}
}

// against claims that a's time is at most so much of b's, at 1, 2 and 64
// goroutines.
func (w sized) against(a, b string, most [3]float64) (claims []claim.Claim) {
	for i, g := range []int{1, 2, 64} {
		claims = append(claims, claim.Claim{
			Area: engineArea, Name: fmt.Sprintf("%s, %s: %s against %s", w.name, goroutines(g), a, b),
			Bound: claim.AtMost, Demand: most[i], Unit: "of its time", Measure: w.ratio(a, b, g),
		})
	}
	return claims
}

// shown lists the time of a table without a demand.
func (w sized) shown(name string) (claims []claim.Claim) {
	for _, g := range []int{1, 2, 64} {
		claims = append(claims, claim.Claim{
			Area: engineArea, Name: fmt.Sprintf("%s, %s: %s", w.name, goroutines(g), name),
			Unit: "ns", Measure: w.ns(name, g),
		})
	}
	return claims
}

func goroutines(n int) string {
	if n == 1 {
		return "1 goroutine"
	}
	return fmt.Sprint(n, " goroutines")
}

func windowClaims() []claim.Claim {
	var all []claim.Claim
	add := func(claims ...claim.Claim) { all = append(all, claims...) }
	add(window1k.shown(engineName)...)
	add(window1k.shown(naiveName)...)
	add(window1k.shown(goSDKName)...)
	add(window1k.shown(cardName)...)
	add(window1k.shown(cardPooledName)...)
	add(window1k.against(engineName, naiveName, [3]float64{0.22, 0.11, 0.07})...)
	add(window1k.against(engineName, goSDKName, [3]float64{0.12, 0.06, 0.05})...)
	add(window1k.against(stringsName, naiveName, [3]float64{0.70, 0.75, 0.45})...)
	add(claim.Claim{
		Area: engineArea, Name: "1k pending: 2 goroutines against 1", Bound: claim.AtMost, Demand: 0.6, Unit: "of its time",
		Measure: func(s *claim.Session) (float64, error) {
			series, err := window1k.series(s)
			return series.RatioOf(engineName, "window/2", engineName, "window/1"), err
		},
	}, claim.Claim{
		Area: engineArea, Name: "1k pending, 1 goroutine: callbacks against waiting", Bound: claim.AtMost, Demand: 1, Unit: "of its time",
		Measure: window1k.ratio(callbacksName, engineName, 1),
	}, claim.Claim{
		Area: engineArea, Name: "1k pending, 1 goroutine: timeouts of 50 ms and 30 s mixed", Bound: claim.AtMost, Demand: 2, Unit: "of uniform",
		Measure: window1k.ratio(alternatingName, engineName, 1),
	})
	add(window100k.shown(engineName)...)
	add(window100k.shown(cardPooledName)...)
	add(window100k.against(engineName, naiveName, [3]float64{0.20, 0.10, 0.07})...)
	add(window1M.shown(engineName)...)
	add(window1M.against(engineName, naiveName, [3]float64{0.40, 0.20, 0.15})...)
	add(window1M.against(stringsName, naiveName, [3]float64{1.0, 0.6, 0.5})...)
	return all
}
