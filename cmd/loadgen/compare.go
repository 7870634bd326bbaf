package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/correlator-go/correlator/internal/load/report"
)

// comparing is a comparison as the command line asks for it.
type comparing struct {
	flags              *flag.FlagSet
	maxRegress, output string
}

func newComparing(stdout io.Writer) *comparing {
	c := &comparing{}
	c.flags = flagSet("loadgen compare", helpCompare, stdout)
	c.flags.StringVar(&c.maxRegress, "max-regress", "", "how much worse metrics may get, such as p99=5%")
	c.flags.StringVar(&c.output, "o", "", "file for the comparison as JSON; - is standard output")
	return c
}

// runCompare compares runs.
func runCompare(_ context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	c := newComparing(stdout)
	sides, err := parseMixed(c.flags, args)
	if err != nil {
		return exitUsage, err
	}
	if len(sides) != 2 {
		return exitUsage, usagef("want two sides, not %d: loadgen compare BEFORE AFTER", len(sides))
	}
	var limits []report.Limit
	if c.maxRegress != "" {
		if limits, err = report.ParseLimits(c.maxRegress); err != nil {
			return exitUsage, usageError{err}
		}
	}
	var documents [2][]*report.Document
	var names [2][]string
	for i, side := range sides {
		if names[i], err = filesOf(side); err != nil {
			return exitUsage, usageError{err}
		}
		for _, name := range names[i] {
			d, err := readRun(name)
			if err != nil {
				return exitError, err
			}
			documents[i] = append(documents[i], d)
		}
	}
	found, err := report.Compare(documents[0], documents[1], names, limits)
	if err != nil {
		return exitError, err
	}
	text := stdout
	if c.output == "-" {
		text = stderr
	}
	if err := writeTo(c.output, stdout, found.Write); err != nil {
		return exitError, err
	}
	return found.Exit, found.Text(text, report.Style{Colour: colourful(text)})
}

// filesOf are the files of a side: names and patterns, joined by commas.
func filesOf(side string) (names []string, err error) {
	for part := range strings.SplitSeq(side, ",") {
		if _, err := os.Stat(part); err == nil {
			names = append(names, part)
			continue
		}
		found, err := filepath.Glob(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no such file", part)
		}
		names = append(names, found...)
	}
	return names, nil
}

func readRun(name string) (*report.Document, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := report.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// parseMixed reads args in which flags may stand between the others, which it
// returns.
func parseMixed(f *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := parseSome(f, args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, f.Arg(0))
		args = f.Args()[1:]
	}
}
