package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/correlator-go/correlator/bench/peers/chart"
	"github.com/correlator-go/correlator/bench/peers/contest"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/proxy"
	"github.com/correlator-go/correlator/bench/peers/report"
)

// selection is the flags by which a part of a plan is chosen.
type selection struct {
	rows, peers string
	rounds      int
	json        string
	profiles    string
	window      time.Duration
}

func (s *selection) register(f *flag.FlagSet) {
	f.StringVar(&s.rows, "rows", "", "measure the rows whose title matches this `regexp`")
	f.StringVar(&s.peers, "peers", "", "let those take part whose name matches this `regexp`")
	f.IntVar(&s.rounds, "rounds", 0, "turns of every contender; 0 is the plan's")
	f.DurationVar(&s.window, "window", 0, "how long a turn is measured; 0 is the plan's")
	f.StringVar(&s.profiles, "profiles", "", "leave CPU and allocation profiles of every client in this `directory`")
	f.StringVar(&s.json, "json", "", "write the figures to this `file`")
}

// narrow leaves of a plan what was chosen.
func (s *selection) narrow(p *contest.Plan) error {
	rows, err := regexp.Compile(s.rows)
	if err != nil {
		return fmt.Errorf("-rows: %w", err)
	}
	peers, err := regexp.Compile(s.peers)
	if err != nil {
		return fmt.Errorf("-peers: %w", err)
	}
	var kept []report.Row
	for _, r := range p.Rows {
		if rows.MatchString(r.Title()) {
			kept = append(kept, r)
		}
	}
	if p.Rows = kept; len(kept) == 0 {
		return fmt.Errorf("-rows: nothing matches %q", s.rows)
	}
	if before := p.Peers; s.peers != "" {
		p.Peers = func(q peer.Peer, r report.Row) bool {
			return peers.MatchString(q.Name) && (before == nil || before(q, r))
		}
	}
	if s.rows != "" || s.peers != "" {
		p.Name = "" // a part of it
	}
	if s.profiles != "" {
		if p.Profiles, err = filepath.Abs(s.profiles); err != nil {
			return err
		}
	}
	if s.window > 0 {
		p.Window = s.window
	}
	if s.rounds > 0 {
		p.Rounds, p.Crowded = s.rounds, 0
	}
	return nil
}

// parse reads the flags of a command that takes so many arguments.
func parse(f *flag.FlagSet, args []string, log io.Writer, want int) error {
	f.SetOutput(log)
	if err := f.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return err
		}
		return errUsage
	}
	if f.NArg() != want {
		return errUsage
	}
	return nil
}

// measure runs a plan and keeps its figures.
func (s *selection) measure(p contest.Plan, out, log io.Writer) (*report.Report, error) {
	if err := s.narrow(&p); err != nil {
		return nil, err
	}
	r, err := contest.Run(p, out, log)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "# %.0f s in all\n", r.Seconds)
	if s.json != "" {
		err = r.Write(s.json)
	}
	return r, err
}

// measure is the command run: it prints verdicts too, but none of them fails it.
func measure(args []string, out, log io.Writer) error {
	var s selection
	f := flag.NewFlagSet("peers run", flag.ContinueOnError)
	full := f.Bool("full", os.Getenv("FULL") == "1", "every row, longer and more often, for the better part of two hours; also with FULL=1")
	s.register(f)
	if err := parse(f, args, log, 0); err != nil {
		return err
	}
	plan := contest.Quick()
	if *full {
		plan = contest.Full()
	}
	r, err := s.measure(plan, out, log)
	if err != nil {
		return err
	}
	_, err = verdicts(r, out)
	return err
}

// check is the command check.
func check(args []string, out, log io.Writer) error {
	var s selection
	f := flag.NewFlagSet("peers check", flag.ContinueOnError)
	s.register(f)
	if err := parse(f, args, log, 0); err != nil {
		return err
	}
	r, err := s.measure(contest.Check(), out, log)
	if err != nil {
		return err
	}
	return failing(r, out)
}

// judge is the command judge.
func judge(args []string, out, log io.Writer) error {
	f := flag.NewFlagSet("peers judge", flag.ContinueOnError)
	tables := f.Bool("tables", false, "print the tables too")
	if err := parse(f, args, log, 1); err != nil {
		return err
	}
	r, err := report.Read(f.Arg(0))
	if err != nil {
		return err
	}
	if *tables {
		if err := r.Text(out); err != nil {
			return err
		}
	}
	return failing(r, out)
}

func failing(r *report.Report, out io.Writer) error {
	short, err := verdicts(r, out)
	if err == nil && short > 0 {
		err = errShort
	}
	return err
}

// verdicts prints what is demanded and holds or does not.
func verdicts(r *report.Report, out io.Writer) (short int, err error) {
	all, demands := report.Judge(r), 0
	fmt.Fprintln(out)
	for _, v := range all {
		if v.Result != report.Shown {
			demands++
		}
		if v.Result == report.Short || v.Result == report.Unknown {
			short++
		}
		if _, err := fmt.Fprintln(out, v); err != nil {
			return short, err
		}
	}
	_, err = fmt.Fprintf(out, "%d demands, %d not met\n", demands, short)
	return short, err
}

// draw is the command chart.
func draw(args []string, out, log io.Writer) error {
	f := flag.NewFlagSet("peers chart", flag.ContinueOnError)
	to := f.String("out", "", "write to this `file`; empty is standard output")
	if err := parse(f, args, log, 1); err != nil {
		return err
	}
	r, err := report.Read(f.Arg(0))
	if err != nil {
		return err
	}
	svg, err := chart.Headline(r)
	if err != nil {
		return err
	}
	if *to == "" {
		_, err = out.Write(svg)
		return err
	}
	return os.WriteFile(*to, svg, 0o644)
}

// serveProxy is a proxy between two unix sockets, until standard input ends.
func serveProxy(args []string, _, log io.Writer) error {
	if len(args) != 3 {
		fmt.Fprintln(log, "usage: peers proxy mcp-go|go-sdk SOCKET UPSTREAM")
		return errUsage
	}
	upstream, err := net.Dial("unix", args[2])
	if err != nil {
		return err
	}
	l, err := net.Listen("unix", args[1])
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return proxy.Serve(context.Background(), args[0], l, upstream)
}
