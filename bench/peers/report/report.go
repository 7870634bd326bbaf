package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
)

// Schema is the version of the document. It rises when a field changes its
// meaning or goes; new fields do not change it.
const Schema = 1

// Scenario is the kind of a row.
type Scenario string

// The scenarios.
const (
	Closed   Scenario = "closed"   // callers wait for each answer
	Open     Scenario = "open"     // calls begin on schedule
	Stuck    Scenario = "stuck"    // four calls are never answered while others go on
	Expiry   Scenario = "expiry"   // no call is ever answered
	Loadgen  Scenario = "loadgen"  // the load generator against the bare client
	Codec    Scenario = "codec"    // reading and writing messages, no connection
	Servers  Scenario = "servers"  // one load, and the servers are the contenders
	Adapters Scenario = "adapters" // rivals' clients over their own transports and over ours
	Table    Scenario = "table"    // registering and settling calls, no connection
)

// Report is a whole run.
type Report struct {
	Schema int `json:"schema"`
	// Plan is what was measured: Quick, Full or Check, or "" for a part of one.
	Plan    string    `json:"plan,omitempty"`
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
	Machine Machine   `json:"machine"`
	// Versions are those of the contenders' modules.
	Versions map[string]string `json:"versions"`
	Rows     []*Row            `json:"rows"`
}

// Machine is where it ran.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// Row is one measurement of several contenders.
type Row struct {
	Scenario  Scenario `json:"scenario"`
	Transport string   `json:"transport,omitempty"` // unix, tcp, pipe
	Callers   int      `json:"callers,omitempty"`
	Bytes     int      `json:"bytes,omitempty"` // of a payload
	// Rate is that of an open loop, in calls a second.
	Rate float64 `json:"rate,omitempty"`
	// Shape is what a codec reads, or the pending calls of a table.
	Shape   string   `json:"shape,omitempty"`
	Entries []*Entry `json:"entries"`
}

// Entry is one contender of a row.
type Entry struct {
	Peer     string     `json:"peer"`
	Class    peer.Class `json:"class"`
	Timeouts string     `json:"timeouts,omitempty"`
	// Rounds are the figures of each round, in order.
	Rounds []load.Figures `json:"rounds,omitempty"`
	// Failed says why the contender could not do the row.
	Failed string `json:"failed,omitempty"`
}

// New returns an empty report of this machine and a plan of this name.
func New(now time.Time, plan string) *Report {
	return &Report{
		Schema: Schema, Plan: plan, Began: now.UTC().Truncate(time.Second), Versions: versions(),
		Machine: Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: claim.Processor(), CPUs: runtime.GOMAXPROCS(0), Go: runtime.Version()},
	}
}

// Title names the row in words.
func (r *Row) Title() string {
	switch r.Scenario {
	case Codec, Table:
		return fmt.Sprintf("%s: %s", r.Scenario, r.Shape)
	case Open:
		return fmt.Sprintf("open loop, %.0f calls/s, %s, %d bytes", r.Rate, r.Transport, r.Bytes)
	case Closed:
		return fmt.Sprintf("%s, %d callers, %d bytes", r.Transport, r.Callers, r.Bytes)
	}
	return fmt.Sprintf("%s: %s, %d callers, %d bytes", r.Scenario, r.Transport, r.Callers, r.Bytes)
}

// Find returns the row that matches want in everything but its rate and entries,
// or nil.
func (r *Report) Find(want Row) *Row {
	for _, row := range r.Rows {
		if row.Scenario == want.Scenario && row.Transport == want.Transport && row.Callers == want.Callers &&
			row.Bytes == want.Bytes && row.Shape == want.Shape {
			return row
		}
	}
	return nil
}

// Entry returns the contender of that name, or nil.
func (r *Row) Entry(name string) *Entry {
	for _, e := range r.Entries {
		if e.Peer == name {
			return e
		}
	}
	return nil
}

// Of returns the entries of a class that measured column, the best median first:
// the largest of a rate, else the smallest.
func (r *Row) Of(class peer.Class, column string) []*Entry {
	var out []*Entry
	for _, e := range r.Entries {
		if _, ok := e.Median(column); ok && e.Class == class {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, better(column))
	return out
}

// better orders entries by their medians of column: large rates and small times
// first.
func better(column string) func(a, b *Entry) int {
	return func(a, b *Entry) int {
		x, _ := a.Median(column)
		y, _ := b.Median(column)
		if column == load.Rate {
			x, y = y, x
		}
		return cmp.Compare(x, y)
	}
}

// Write writes the document to a file.
func (r *Report) Write(path string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// Read reads what Write wrote.
func Read(path string) (*Report, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("%s: schema %d, want %d", path, r.Schema, Schema)
	}
	return r, nil
}
