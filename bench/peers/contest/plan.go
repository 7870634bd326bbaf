package contest

import (
	"slices"
	"time"

	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/table"
	"github.com/correlator-go/correlator/bench/peers/wire"
)

// Plan is what a contest measures.
type Plan struct {
	// Name is report.Report's.
	Name string
	// Rounds is how often every contender of a row has its turn.
	Rounds int
	// Crowded is how often in rows of 10,000 callers, which take long: a slow client
	// needs a second to answer each once. 0 is Rounds.
	Crowded int
	// Warm and Window are the time of a turn, for so many callers.
	Warm, Window time.Duration
	Rows         []report.Row
	// Profiles is the directory where every client leaves profiles of its last turn
	// in a row. Empty takes none; taking them costs some percent.
	Profiles string
	// Peers are those who take part; nil is all of them.
	Peers func(peer.Peer, report.Row) bool
}

// The sizes of payloads.
const (
	Small = report.Small
	Large = report.Large
)

// adapterRows are for rivals' clients over their own transports and over ours.
func adapterRows() (rows []report.Row) {
	for _, bytes := range []int{Small, Large} {
		for _, callers := range []int{64, 1024, 10000} {
			if bytes == Large && callers == 10000 {
				continue // calls of 0.2 ms: a turn would take seconds, to say what 1,024 callers do
			}
			rows = append(rows, report.Row{Scenario: report.Adapters, Transport: Unix, Callers: callers, Bytes: bytes})
		}
	}
	return rows
}

// scenarios are the rows beside the closed loops.
func scenarios() []report.Row {
	rows := []report.Row{
		{Scenario: report.Open, Transport: Unix, Bytes: Small},
		{Scenario: report.Stuck, Transport: Unix, Callers: 252, Bytes: Small},
		{Scenario: report.Expiry, Transport: Unix, Callers: 1000, Bytes: Small},
		{Scenario: report.Loadgen, Transport: Unix, Callers: 1024, Bytes: Small},
		{Scenario: report.Servers, Transport: Unix, Callers: 1024, Bytes: Small},
	}
	rows = append(rows, adapterRows()...)
	for _, shape := range wire.Shapes() {
		rows = append(rows, report.Row{Scenario: report.Codec, Shape: shape})
	}
	for _, size := range table.Sizes() {
		rows = append(rows, report.Row{Scenario: report.Table, Shape: size.String()})
	}
	return rows
}

// closedRows are the closed loops that a report.Report of this name must have.
func closedRows(name string) (rows []report.Row) {
	for row := range report.ClosedRows(name) {
		rows = append(rows, row)
	}
	return rows
}

// Quick is what fits into ten minutes: every row, with all contenders over the unix
// socket and a sample of the other transports, else with those who come near.
func Quick() Plan {
	return Plan{
		Name: report.Quick, Rounds: 3, Crowded: 2, Warm: 100 * time.Millisecond, Window: 200 * time.Millisecond,
		Rows: append(closedRows(report.Quick), scenarios()...), Peers: near,
	}
}

// near leaves out of the rows that are many those rivals that are far from first
// wherever all were measured: what such a row says is who is first.
func near(p peer.Peer, r report.Row) bool {
	if r.Scenario != report.Closed || r.Transport == Unix || r.Callers == 1024 && r.Bytes == Small {
		return true
	}
	return p.Name == peer.Blocking || p.Name == peer.Into || slices.Contains(peer.Near, p.Name)
}

// Full is every row with all contenders, longer and more often.
func Full() Plan {
	return Plan{
		Name: report.Full, Rounds: 7, Warm: 200 * time.Millisecond, Window: time.Second,
		Rows: append(closedRows(report.Full), scenarios()...),
	}
}

// Check is what the demands are about: the rows of 64 and 1,024 callers with
// those whom a demand names.
func Check() Plan {
	return Plan{
		Name: report.Check, Rounds: 5, Warm: 100 * time.Millisecond, Window: 250 * time.Millisecond,
		Rows: append(closedRows(report.Check), scenarios()...), Peers: demanded,
	}
}

// rounds is how often the contenders of a row have their turn.
func (p *Plan) rounds(r *report.Row) int {
	switch {
	case r.Scenario == report.Stuck:
		return (p.Rounds + 2) / 3 // a heap is no matter of luck
	case r.Callers >= 10000 && p.Crowded > 0 && r.Scenario == report.Closed:
		return p.Crowded
	}
	return p.Rounds
}

// demanded keeps ours and all that carry JSON-RPC, and of the others and the floors
// those that a demand is about.
func demanded(p peer.Peer, r report.Row) bool {
	switch p.Class {
	case peer.Ours:
		return p.Name == peer.Blocking || p.Name == peer.Into || r.Scenario != report.Closed
	case peer.JSON, peer.Adapted:
		return true
	case peer.Other:
		return r.Transport == Unix && r.Callers == 1024 && (p.Name == peer.GRPC || p.Name == peer.Rueidis)
	case peer.Floor:
		return r.Transport == Unix && r.Callers == 1024 && r.Bytes == Small && p.Name == peer.InOrder
	}
	return false
}
