package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/correlator-go/correlator/bench/claim"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "-role" {
		os.Exit(role(os.Args[2], os.Args[3:]))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, log io.Writer) int {
	f := flag.NewFlagSet("check", flag.ContinueOnError)
	f.SetOutput(log)
	quick := f.Bool("quick", false, "short rounds, for a machine that others use: what is timed is shown and not judged")
	peers := f.String("peers", "", "the directory of bench/peers; empty finds it from here")
	share := f.Float64("share", 0.5, "the part of the peak of the open loop")
	clients := f.Int("clients", 16, "how many clients call at once")
	if f.Parse(args) != nil {
		return 2
	}
	s := settingsFor(*quick, *peers)
	s.clients = max(1, *clients)
	s.share = *share
	rows, err := measure(s, log)
	short := report(out, rows)
	if err != nil {
		_, _ = fmt.Fprintln(log, "check:", err)
		return 1
	}
	if short > 0 {
		return 1
	}
	return 0
}

// row is one line of the report.
type row struct {
	claim    claim.Claim
	measured float64
}

// report prints the rows, and gives how many fall short.
func report(out io.Writer, rows []row) (short int) {
	_, _ = fmt.Fprintf(out, "%-72s %14s %14s\n", "", "demanded", "measured")
	for _, r := range rows {
		demanded := "-"
		if r.claim.Bound != claim.Shown {
			demanded = map[claim.Bound]string{claim.AtMost: "<= ", claim.AtLeast: ">= "}[r.claim.Bound] + number(r.claim.Demand)
		}
		verdict := r.claim.Judge(r.measured)
		if verdict == claim.Short {
			short++
		}
		_, _ = fmt.Fprintf(out, "%-72s %14s %14s  %-8s %s\n", r.claim.Name, demanded, number(r.measured), r.claim.Unit, verdict)
	}
	_, _ = fmt.Fprintf(out, "%d claims, %d short\n", len(rows), short)
	return short
}

func number(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// buildPeers builds the proxies of the SDKs, which are in a module of their own.
func buildPeers(dir, into string) (string, error) {
	if dir == "" {
		for _, guess := range []string{"../bench/peers", "bench/peers"} {
			if _, err := os.Stat(filepath.Join(guess, "go.mod")); err == nil {
				dir = guess
				break
			}
		}
	}
	program := filepath.Join(into, "peers")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Stderr = dir, os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building %s: %w", dir, err)
	}
	return program, nil
}
