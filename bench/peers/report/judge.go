package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/wire"
)

// Result is what became of a demand.
type Result string

// The results. A tie is as good as met.
const (
	Met     Result = "ok"
	Tie     Result = "tie"
	Short   Result = "SHORT"
	Unknown Result = "unknown" // a contender of the demand has no figures
	Shown   Result = "shown"   // nothing is demanded: a figure to be read beside one that is
)

// Verdict is one demand and what became of it.
type Verdict struct {
	Row    string
	Demand string
	Got    string
	Result Result
}

// String is a line of the report.
func (v Verdict) String() string {
	return fmt.Sprintf("%-6s  %-47s  %-57s  %s", v.Result, v.Row, v.Demand, v.Got)
}

// Judge compares a report with everything that is demanded of the rows in it.
func Judge(r *Report) []Verdict {
	var out []Verdict
	for _, row := range r.Rows {
		if judge := map[Scenario]func(*Row) []Verdict{
			Closed: closedDemands, Open: openDemands, Stuck: stuckDemands, Expiry: expiryDemands, Loadgen: loadgenDemands, Codec: codecDemands,
			Servers: serverDemands, Adapters: adapterDemands,
		}[row.Scenario]; judge != nil && row.Entry(subject(row)) != nil {
			out = append(out, judge(row)...)
		}
	}
	return append(out, r.holes()...)
}

// subject is which of ours a row's demands are about.
func subject(row *Row) string {
	switch row.Scenario {
	case Loadgen:
		return peer.Submitted
	case Codec:
		return wire.Ours
	case Adapters:
		return peer.MCPGoAdapted
	}
	return peer.Blocking
}

// factors are the demands of single rows beyond being first: by how much the rate
// must exceed a rival's.
var factors = []struct {
	bytes  int
	rival  string // "" is the best that carries JSON-RPC
	demand float64
}{
	{100, "", 1.5}, {100, peer.MCPGo, 12}, {100, peer.GoSDK, 45}, {100, peer.GRPC, 15}, {4096, peer.Rueidis, 1.5},
}

// closedDemands: first by rate and by CPU among those that carry JSON-RPC; with
// one caller, not behind by rate.
func closedDemands(row *Row) []Verdict {
	out := []Verdict{row.first(load.Rate)}
	if row.Callers > 1 {
		out = append(out, row.first(load.CPU))
	}
	if row.Transport == "unix" && row.Callers == 1024 {
		for _, f := range factors {
			if f.bytes == row.Bytes {
				out = append(out, row.factor(f.rival, f.demand))
			}
		}
		if row.Bytes == 100 {
			out = append(out, row.floor())
		}
	}
	return out
}

// floorFactor is by how much the floor that callers are held against (bench/rival)
// must itself be faster than the best library over a writer that gathers: a slow
// floor would say nothing of who comes near it.
const floorFactor = 2

// buffered are the contenders over such a writer.
var buffered = []string{peer.LSPConnBuffered, peer.LSPClientBuffered}

// floor demands that the floor is one.
func (r *Row) floor() Verdict {
	rival := buffered[0]
	for _, e := range r.Of(peer.JSON, load.Rate) { // the best first
		if slices.Contains(buffered, e.Peer) {
			rival = e.Peer
			break
		}
	}
	return r.comparedTo(fmt.Sprintf("the floor: calls/s ≥ %d× %s", floorFactor, rival), load.Rate, peer.InOrder, rival, func(ratio float64) (float64, bool) {
		return ratio, ratio >= floorFactor
	})
}

// first demands that no rival that carries JSON-RPC is better in column.
func (r *Row) first(column string) Verdict {
	v := Verdict{Row: r.Title(), Demand: "first by " + column, Result: Unknown}
	rivals := r.Of(peer.JSON, column)
	if len(rivals) == 0 {
		v.Got = "no rival has figures"
		return v
	}
	best := rivals[0].Peer
	ratio, ok := r.Ratio(column, peer.Blocking, best)
	if !ok {
		v.Got = why(r.Entry(peer.Blocking))
		return v
	}
	if column != load.Rate { // less is better
		ratio = Ratio{1 / ratio.Median, 1 / ratio.High, 1 / ratio.Low}
	}
	v.Got = fmt.Sprintf("%.2f× %s (%.2f–%.2f)", ratio.Median, best, ratio.Low, ratio.High)
	switch {
	case ratio.Median >= 1:
		v.Result = Met
	case ratio.High >= 1:
		v.Result = Tie
	default:
		v.Result = Short
	}
	return v
}

// factor demands so many times a rival's rate, of the better of ours that wait as
// the rival does.
func (r *Row) factor(rival string, demand float64) Verdict {
	name := rival
	if rival == "" {
		name = "the next that carries JSON-RPC"
		if best := r.Of(peer.JSON, load.Rate); len(best) > 0 {
			rival = best[0].Peer
			name = "the next, " + rival
		}
	}
	ours := peer.Blocking
	for _, e := range r.Of(peer.Ours, load.Rate) { // the best first
		if e.Peer == peer.Blocking || e.Peer == peer.Into {
			ours = e.Peer
			break
		}
	}
	return r.comparedTo(fmt.Sprintf("calls/s ≥ %g× %s", demand, name), load.Rate, ours, rival, func(ratio float64) (float64, bool) {
		return ratio, ratio >= demand
	})
}

// compared demands something of the ratio of the subject to a rival.
func (r *Row) compared(demand, column, rival string, holds func(ratio float64) (shown float64, ok bool)) Verdict {
	return r.comparedTo(demand, column, subject(r), rival, holds)
}

// comparedTo is compared for another of ours than the subject.
func (r *Row) comparedTo(demand, column, ours, rival string, holds func(ratio float64) (shown float64, ok bool)) Verdict {
	v := Verdict{Row: r.Title(), Demand: demand, Result: Unknown}
	ratio, ok := r.Ratio(column, ours, rival)
	if !ok {
		v.Got = why(r.Entry(ours), r.Entry(rival))
		return v
	}
	shown, met := holds(ratio.Median)
	v.Got, v.Result = fmt.Sprintf("%.3g× (%s)", shown, ours), Short
	if met {
		v.Result = Met
	}
	return v
}

// why says who of a comparison has no figures.
func why(entries ...*Entry) string {
	for _, e := range entries {
		switch {
		case e == nil:
			return "not measured"
		case e.Failed != "":
			return e.Peer + " failed: " + e.Failed
		}
	}
	return "not measured"
}

// atMost demands a bound on a median of ours.
func (r *Row) atMost(demand, column string, bound float64, format func(float64) string) Verdict {
	v := Verdict{Row: r.Title(), Demand: demand, Result: Unknown}
	got, ok := r.Entry(subject(r)).Median(column)
	if !ok || math.IsNaN(bound) {
		v.Got = why(r.Entry(subject(r)))
		return v
	}
	v.Got, v.Result = fmt.Sprintf("%s against %s", format(got), format(bound)), Short
	if got <= bound {
		v.Result = Met
	}
	return v
}

// openDemands: at 70 % of the best rival's peak, a third of its p99.
func openDemands(row *Row) []Verdict {
	var rival string
	for _, e := range row.Entries {
		if e.Class == peer.JSON {
			rival = e.Peer
		}
	}
	return []Verdict{row.compared("p99 ≤ 1/3 of "+rival+"'s", load.P99, rival, func(r float64) (float64, bool) { return r, r <= 1.0/3 })}
}

// growthMax is what stuck calls may add to the heap: their slots, and what the
// figure itself is blurred by.
const growthMax = 64 << 10

func stuckDemands(row *Row) []Verdict {
	return []Verdict{row.atMost("stuck calls add no more than their slots (64 KiB)", Growth, growthMax, func(v float64) string {
		return fmt.Sprintf("%.0f KiB", v/1024)
	})}
}

// tick is the engine's.
const tick = 1e6

// The floors of expiry: callers that wait for a timer of the runtime each, and such
// that are woken all by one goroutine when they are due, which is the least that a call
// which waits and expires can cost.
const (
	TimerFloor = "time.AfterFunc"
	WakeFloor  = "wake-up alone"
)

// expiryDemands: the lateness of calls that wait, and the CPU of the leanest way
// to make a call that expires, ours against theirs. What a call that waits costs is
// shown beside it, and its floor.
func expiryDemands(row *Row) []Verdict {
	timer := math.NaN()
	if p99, ok := row.Entry(TimerFloor).Median(load.P99); ok {
		timer = p99
	}
	ours, rival := peer.Blocking, ""
	if best := row.Of(peer.Ours, load.CPU); len(best) > 0 {
		ours = best[0].Peer
	}
	if best := row.Of(peer.JSON, load.CPU); len(best) > 0 {
		rival = best[0].Peer
	}
	shown := func(name string) Verdict {
		v := row.comparedTo("CPU per expired call of "+name+", against the same", load.CPU, name, rival, func(r float64) (float64, bool) { return r, true })
		v.Result = Shown
		return v
	}
	return []Verdict{
		row.atMost("late p99 ≤ AfterFunc's + 1 tick", load.P99, timer+tick, span),
		row.comparedTo("CPU per expired call ≤ 1/3 of the best rival's, "+rival, load.CPU, ours, rival, func(r float64) (float64, bool) { return r, r <= 1.0/3 }),
		shown(peer.Blocking), shown(TimerFloor), shown(WakeFloor),
	}
}

// loadgenShare is what the load generator may add to the CPU of a call, as a part of
// what the same call costs by hand.
const loadgenShare = 0.25

func loadgenDemands(row *Row) []Verdict {
	return []Verdict{row.compared("loadgen adds ≤ 25 % to a call's CPU", load.CPU, LoadgenClient, func(r float64) (float64, bool) {
		return 1/r - 1, 1/r-1 <= loadgenShare
	})}
}

// LoadgenClient is the load generator at its peak: its closed loop, in which one
// goroutine submits what has come free.
const LoadgenClient = "loadgen"
