package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

// settings say how long and how much.
type settings struct {
	warm, window   time.Duration
	rounds         int
	share          float64
	clients, depth int
	idle, pending  int
	leaver         int    // calls of the client that goes
	shared         bool   // the machine has other things to do: what is timed is shown only
	peers          string // the directory of their module
}

func settingsFor(quick bool, peers string) settings {
	s := settings{warm: 300 * time.Millisecond, window: 2 * time.Second, rounds: 5, clients: 16, depth: 512, idle: 10_000, pending: 100_000, leaver: 200_000, peers: peers}
	if quick {
		s.warm, s.window, s.rounds, s.shared, s.idle, s.pending, s.leaver = 500*time.Millisecond, time.Second, 1, true, 2_000, 50_000, 50_000
	}
	return s
}

// timed is c where the machine is the measurement's alone, and else c without its demand.
func (s *settings) timed(c claim.Claim) claim.Claim {
	if s.shared {
		c.Bound = claim.Shown
	}
	return c
}

// bed is the processes of a measurement.
type bed struct {
	settings
	dir                              string
	log                              io.Writer
	server, silent, copy, gate, mute *child
	sdks                             map[string]*child
}

func (b *bed) socket(name string) string { return filepath.Join(b.dir, name) }

func (b *bed) end() {
	for _, c := range append([]*child{b.copy, b.gate, b.mute, b.server, b.silent}, b.sdks["mcp-go"], b.sdks["go-sdk"]) {
		if c != nil {
			c.end()
		}
	}
	_ = os.RemoveAll(b.dir)
}

func measure(s settings, log io.Writer) (rows []row, err error) {
	b := &bed{settings: s, log: log, sdks: map[string]*child{}}
	if b.dir, err = os.MkdirTemp("", "gateway-check"); err != nil {
		return nil, err
	}
	defer b.end()
	for _, r := range []struct {
		to             **child
		role, name, up string
	}{{&b.server, "echo", "echo", ""}, {&b.silent, "silent", "silent", ""}, {&b.copy, "copy", "copy", "echo"}, {&b.gate, "gateway", "gate", "echo"}, {&b.mute, "gateway", "mute", "silent"}} {
		if *r.to, err = beginRole(r.role, b.socket(r.name), b.socket(r.up)); err != nil {
			return nil, err
		}
	}
	program, err := buildPeers(s.peers, b.dir)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"mcp-go", "go-sdk"} {
		if b.sdks[name], err = begin(program, b.socket(name), "proxy", name, b.socket(name), b.socket("echo")); err != nil {
			return nil, err
		}
	}
	for _, part := range []func() ([]row, error){b.nodes, b.peaks, b.memory, b.leaving} {
		more, err := part()
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// peaks measures rates, and then what a call costs at half the gateway's.
func (b *bed) peaks() ([]row, error) {
	rates := map[string][]float64{}
	for range b.rounds {
		for _, name := range []string{"gate", "copy", "mcp-go", "go-sdk"} {
			rate, err := b.peak(name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			rates[name] = append(rates[name], rate)
		}
	}
	peak := median(rates["gate"])
	versus := func(name string) float64 {
		var ratios []float64
		for i, rate := range rates["gate"] {
			ratios = append(ratios, rate/rates[name][i])
		}
		return median(ratios)
	}
	_, _ = fmt.Fprintf(b.log, "peaks: gateway %.0f calls/s, byte copy %.0f, mcp-go %.0f, go-sdk %.0f\n", peak, median(rates["copy"]), median(rates["mcp-go"]), median(rates["go-sdk"]))
	rows := []row{
		{claim.Claim{Name: "peak of the gateway, closed loop, 100 B", Unit: "calls/s"}, peak},
		{b.timed(claim.Claim{Name: "peak against a proxy written with mcp-go", Bound: claim.AtLeast, Demand: 10, Unit: "x"}), versus("mcp-go")},
		{b.timed(claim.Claim{Name: "peak against a proxy written with go-sdk", Bound: claim.AtLeast, Demand: 10, Unit: "x"}), versus("go-sdk")},
	}
	more, err := b.cost(peak * b.share)
	if rows = append(rows, more...); err != nil || !b.shared {
		return rows, err
	}
	allocations, err := b.allocations()
	return append(rows, allocations), err
}

func (b *bed) peak(name string) (float64, error) {
	c, err := join(b.socket(name), b.clients)
	defer c.leave()
	if err != nil {
		return 0, err
	}
	return c.peak(b.depth, b.warm, b.window/2)
}

// turn is one contender's part of a round.
type turn struct{ p50, cpu, mallocs float64 }

func (b *bed) turn(name string, proxy *child, rate float64) (t turn, err error) {
	c, err := join(b.socket(name), b.clients)
	defer c.leave()
	if err != nil {
		return t, err
	}
	if _, _, err := c.steady(rate, b.warm); err != nil {
		return t, err
	}
	var before, after usage
	if proxy != nil {
		if before, err = proxy.usage("now"); err != nil {
			return t, err
		}
	}
	p50, calls, err := c.steady(rate, b.window)
	if err != nil {
		return t, err
	}
	if proxy != nil {
		if after, err = proxy.usage("now"); err != nil {
			return t, err
		}
	}
	n := float64(calls)
	return turn{float64(p50), (after.CPU - before.CPU) / n * 1e9, float64(after.Mallocs-before.Mallocs) / n}, nil
}

// cost compares the gateway with the byte copy at one rate.
func (b *bed) cost(rate float64) ([]row, error) {
	var cpu, gateCPU, copyCPU, mallocs, directP50, copyP50, gateP50 []float64
	for range b.rounds {
		direct, err := b.turn("echo", nil, rate)
		if err != nil {
			return nil, fmt.Errorf("direct: %w", err)
		}
		bare, err := b.turn("copy", b.copy, rate)
		if err != nil {
			return nil, fmt.Errorf("byte copy: %w", err)
		}
		ours, err := b.turn("gate", b.gate, rate)
		if err != nil {
			return nil, fmt.Errorf("gateway: %w", err)
		}
		_, _ = fmt.Fprintf(b.log, "round: p50 direct %v, byte copy %v, gateway %v; CPU per call %v, %v\n", time.Duration(direct.p50), time.Duration(bare.p50), time.Duration(ours.p50), time.Duration(bare.cpu), time.Duration(ours.cpu))
		cpu, mallocs = append(cpu, ours.cpu/bare.cpu), append(mallocs, ours.mallocs)
		gateCPU, copyCPU = append(gateCPU, ours.cpu), append(copyCPU, bare.cpu)
		directP50, copyP50, gateP50 = append(directP50, direct.p50), append(copyP50, bare.p50), append(gateP50, ours.p50)
	}
	gateAdds, copyAdds := median(gateP50)-median(directP50), max(1, median(copyP50)-median(directP50))
	return []row{
		{claim.Claim{Name: "open loop", Unit: "calls/s"}, rate},
		{claim.Claim{Name: "CPU per call of the byte copy", Unit: "ns"}, median(copyCPU)},
		{claim.Claim{Name: "CPU per call of the gateway", Unit: "ns"}, median(gateCPU)},
		{b.timed(claim.Claim{Name: "CPU per call against a byte copy", Bound: claim.AtMost, Demand: 3, Unit: "x"}), median(cpu)},
		{claim.Claim{Name: "median latency without a proxy", Unit: "ns"}, median(directP50)},
		{claim.Claim{Name: "what the byte copy adds to the median", Unit: "ns"}, copyAdds},
		{claim.Claim{Name: "what the gateway adds to the median", Unit: "ns"}, gateAdds},
		{b.timed(claim.Claim{Name: "what is added to the median, against a byte copy", Bound: claim.AtMost, Demand: 2, Unit: "x"}), gateAdds / copyAdds},
		{b.timed(claim.Claim{Name: "allocations per call", Bound: claim.AtMost, Demand: 2, Unit: ""}), median(mallocs)},
	}, nil
}

// memory measures what idle clients and pending calls hold.
func (b *bed) memory() ([]row, error) {
	var rows []row
	for n, kind := range idleKinds {
		cost, err := b.idleCost(n, kind)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{claim.Claim{Name: fmt.Sprintf("memory of an idle client, of %d, by %s", b.idle, kind.name), Bound: claim.AtMost, Demand: 20 << 10, Unit: "B"}, cost})
	}
	c, err := join(b.socket("mute"), b.clients)
	defer c.leave()
	if err != nil {
		return rows, err
	}
	base, err := b.mute.usage("gc")
	if err != nil {
		return rows, err
	}
	if err := c.hang(b.pending); err != nil {
		return rows, err
	}
	with, err := b.mute.settled()
	if err != nil {
		return rows, err
	}
	return append(rows, row{claim.Claim{Name: fmt.Sprintf("memory of a pending call, of %d", b.pending), Bound: claim.AtMost, Demand: 700, Unit: "B"}, each(base, with, b.pending)}), nil
}

// idleCost is what one idle client of a kind costs, in a gateway that has seen no other.
// A first client has come before, so that what comes with the first one is in the base.
func (b *bed) idleCost(n int, kind idleKind) (float64, error) {
	socket := b.socket("idle" + strconv.Itoa(n))
	gate, err := beginRole("gateway", socket, b.socket("silent"))
	if err != nil {
		return 0, err
	}
	defer gate.end()
	first, err := rest(socket, kind, 1)
	defer first.leave()
	if err != nil {
		return 0, err
	}
	base, err := gate.settled()
	if err != nil {
		return 0, err
	}
	all, err := rest(socket, kind, b.idle)
	defer all.leave()
	if err != nil {
		return 0, fmt.Errorf("%d idle clients: %w", len(all.conns), err)
	}
	with, err := gate.settled()
	return each(base, with, b.idle), err
}

// settled is the usage of a process when it has done all that it was asked to: it works
// no more, or what it holds stays the same while it only collects.
func (c *child) settled() (u usage, err error) {
	last := usage{CPU: -1}
	for ; ; time.Sleep(200 * time.Millisecond) {
		if u, err = c.usage("gc"); err != nil || u.CPU-last.CPU < 0.1 || max(u.Memory, last.Memory)-min(u.Memory, last.Memory) < u.Memory/200 {
			return u, err
		}
		last = u
	}
}

func each(base, with usage, n int) float64 {
	return (float64(with.Memory) - float64(base.Memory)) / float64(n)
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.SortFunc(v, cmp.Compare[float64])
	return v[len(v)/2]
}
