package contest

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/server"
	"github.com/correlator-go/correlator/bench/peers/table"
	"github.com/correlator-go/correlator/bench/peers/wire"
)

// The roles of child processes.
const (
	ClientChild = "client"
	ServerChild = "server"
	CodecChild  = "codec"
	TableChild  = "table"
)

const (
	// most bounds how much longer than planned a turn of slow contenders lasts.
	most = 2500 * time.Millisecond
	// budget is how long calls in flight may take to end.
	budget = 10 * time.Second
	// openShare is the rate of the open loop, as a share of the best rival's peak.
	openShare = 0.7
)

// Contest is one run.
type Contest struct {
	plan      Plan
	out       io.Writer
	log       io.Writer
	session   *claim.Session
	servers   map[string]server.Addresses
	stops     []func()
	generator string // the path of loadgen once it was built
	report    *report.Report
}

// Run measures a plan. It writes each row's table to out when it is done, and
// what it is about to do to log.
func Run(p Plan, out, log io.Writer) (*report.Report, error) {
	began := time.Now()
	c := &Contest{
		plan: p, out: out, log: log, session: claim.NewSession(1, io.Discard),
		servers: map[string]server.Addresses{}, report: report.New(began, p.Name),
	}
	defer func() {
		for _, stop := range c.stops {
			stop()
		}
	}()
	for _, row := range p.Rows {
		if err := c.row(&row); err != nil {
			return nil, err
		}
	}
	c.report.Seconds = time.Since(began).Seconds()
	return c.report, nil
}

// turn is one contender of a row: what it runs once a round.
type turn struct {
	entry *report.Entry
	run   func() (load.Figures, error)
}

// row measures one row.
func (c *Contest) row(row *report.Row) error {
	began := time.Now()
	if row.Scenario == report.Open {
		if row.Rate = c.openRate(); row.Rate == 0 {
			fmt.Fprintln(c.log, "# no peak known: the open loop is left out")
			return nil
		}
	}
	turns, err := c.turns(row)
	if err != nil {
		return err
	}
	for round := range c.plan.rounds(row) {
		for i := range turns {
			// Each round begins with another contender, and every other one goes
			// backwards: none always follows the same neighbour.
			at := (i + round) % len(turns)
			if round%2 == 1 {
				at = len(turns) - 1 - at
			}
			t := turns[at]
			if t.entry.Failed != "" {
				continue
			}
			f, err := t.run()
			if err != nil {
				t.entry.Failed = reason(err)
				t.entry.Rounds = nil
				continue
			}
			t.entry.Rounds = append(t.entry.Rounds, f)
		}
	}
	for _, t := range turns {
		row.Entries = append(row.Entries, t.entry)
	}
	c.report.Rows = append(c.report.Rows, row)
	fmt.Fprintf(c.log, "# %-50s %5.1f s\n", row.Title(), time.Since(began).Seconds())
	return row.Text(c.out)
}

// turns lists who takes part in a row.
func (c *Contest) turns(row *report.Row) ([]turn, error) {
	if row.Scenario == report.Servers {
		return c.serverTurns(row)
	}
	var out []turn
	add := func(name string, class peer.Class, timeouts string, run func() (load.Figures, error)) {
		out = append(out, turn{&report.Entry{Peer: name, Class: class, Timeouts: timeouts}, run})
	}
	for _, p := range peer.All() {
		if !c.takesPart(p, *row) {
			continue
		}
		cell, err := c.cell(p, row)
		if err != nil {
			return nil, err
		}
		add(p.Name, p.Class, p.Timeouts, func() (load.Figures, error) { return c.child(cell) })
	}
	switch row.Scenario {
	case report.Codec:
		for _, library := range wire.Libraries() {
			if wire.Does(library, row.Shape) {
				add(library, ourOr(library == wire.Ours), "", func() (load.Figures, error) { return c.bench(CodecChild, library, row.Shape) })
			}
		}
	case report.Table:
		for _, name := range table.Names() {
			add(name, ourOr(name == table.Ours), "", func() (load.Figures, error) { return c.bench(TableChild, name, row.Shape) })
		}
	case report.Loadgen:
		add(report.LoadgenClient, peer.Other, "argument", func() (load.Figures, error) { return c.loadgen(row) })
	case report.Expiry:
		for _, floor := range []string{TimerClient, WakeClient} {
			cell := Cell{Scenario: row.Scenario, Client: floor, Callers: row.Callers}
			c.time(&cell)
			add(floor, peer.Floor, "timer", func() (load.Figures, error) { return c.child(cell) })
		}
	}
	return out, nil
}

// takesPart says who is in a row. Scenarios about pending calls are for those who
// have a table of them.
func (c *Contest) takesPart(p peer.Peer, row report.Row) bool {
	if c.plan.Peers != nil && !c.plan.Peers(p, row) {
		return false
	}
	switch row.Scenario {
	case report.Closed:
		return p.Class != peer.Adapted && p.Name != peer.Submitted
	case report.Adapters:
		switch p.Name {
		case peer.MCPGo, peer.MCPGoAdapted:
			return true
		case peer.GoSDK, peer.GoSDKAdapted: // whose cost does not depend on how many call
			return row.Callers == 1024 && row.Bytes == Small
		}
		return false
	case report.Codec, report.Table:
		return false
	case report.Open:
		return p.Name == peer.Blocking || p.Name == peer.Callbacks || p.Name == c.bestRival()
	case report.Loadgen:
		return p.Name == peer.Batches || p.Name == peer.Submitted
	case report.Expiry:
		return p.Name == peer.Blocking || p.Name == peer.Callbacks || p.Class == peer.JSON
	}
	return p.Name == peer.Blocking || p.Class == peer.JSON
}

// cell is the measurement of a peer in a row.
func (c *Contest) cell(p peer.Peer, row *report.Row) (Cell, error) {
	dropping := row.Scenario == report.Stuck || row.Scenario == report.Expiry
	cell := Cell{
		Scenario: row.Scenario, Client: p.Name, Server: p.Server, Dropping: dropping,
		Transport: row.Transport, Callers: row.Callers, Bytes: row.Bytes, Rate: row.Rate,
	}
	c.time(&cell)
	if c.plan.Profiles != "" {
		name := strings.NewReplacer(", ", "-", ": ", "-", " ", "-", "/", "-").Replace(row.Title() + "-" + p.Name)
		cell.Profile = filepath.Join(c.plan.Profiles, name)
	}
	if row.Transport == Pipe {
		return cell, nil
	}
	a, err := c.server(p.Server, dropping)
	cell.Address, cell.Costs = a.Unix, a.Cost
	if row.Transport == TCP {
		cell.Address = a.TCP
	}
	return cell, err
}

// time sets how long a cell takes.
func (c *Contest) time(cell *Cell) {
	cell.Warm, cell.Window, cell.Most, cell.Budget = c.plan.Warm, c.plan.Window, most, budget
	switch cell.Scenario {
	case report.Open:
		cell.Window *= 4
	case report.Stuck:
		cell.Window *= 6
	case report.Adapters: // of 10,000 callers each is to make more than a call or two
		cell.Window *= 3
	case report.Expiry: // a whole number of timeouts
		cell.Warm = expiryTimeout * 3 / 2
		cell.Window = max(cell.Window, 5*expiryTimeout).Truncate(expiryTimeout)
	}
}

// openRate is the rate of the open loop.
func (c *Contest) openRate() float64 {
	rival := c.bestRival()
	if rival == "" {
		return 0
	}
	v, _ := c.peakRow().Entry(rival).Median(load.Rate)
	return openShare * v
}

// peakRow is where peaks are read off.
func (c *Contest) peakRow() *report.Row {
	return c.report.Find(report.Row{Scenario: report.Closed, Transport: Unix, Callers: 1024, Bytes: Small})
}

// bestRival is who carries JSON-RPC fastest, apart from us.
func (c *Contest) bestRival() string {
	row := c.peakRow()
	if row == nil {
		return ""
	}
	best := row.Of(peer.JSON, load.Rate)
	if len(best) == 0 {
		return ""
	}
	return best[0].Peer
}

// child measures a cell in a process of its own.
func (c *Contest) child(cell Cell) (load.Figures, error) {
	b, err := json.Marshal(cell)
	if err != nil {
		return nil, err
	}
	v, err := c.session.Child(ClientChild, string(b))
	return load.Figures(v), err
}

// server returns where a server listens, and starts it if it does not yet.
func (c *Contest) server(name string, dropping bool) (server.Addresses, error) {
	key, args := name, []string{name}
	if dropping {
		args = append(args, "dropping")
		key += " dropping"
	}
	if a, ok := c.servers[key]; ok {
		return a, nil
	}
	line, stop, err := c.session.Serve(ServerChild, args...)
	if err != nil {
		return server.Addresses{}, err
	}
	c.stops = append(c.stops, stop)
	var a server.Addresses
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		return server.Addresses{}, fmt.Errorf("server %s: %q: %w", name, line, err)
	}
	c.servers[key] = a
	return a, nil
}
