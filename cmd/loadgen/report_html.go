package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/page"
	"github.com/correlator-go/correlator/internal/load/report"
)

// htmlWatcher leaves a run as one HTML page (-html).
type htmlWatcher struct{ name string }

func (h *htmlWatcher) flags(f *flag.FlagSet) {
	f.StringVar(&h.name, "html", "", "file for the report as one HTML page")
}

func (h *htmlWatcher) wanted() (bool, error) { return h.name != "", nil }

func (h *htmlWatcher) begin(context.Context, *report.Live, *drive.Control, io.Writer) error {
	return creatable(h.name)
}

func (h *htmlWatcher) end(d *report.Document) error {
	if d == nil {
		return nil
	}
	return writeFile(h.name, func(w io.Writer) error { return page.Write(w, page.Run{Name: "run", Doc: d}) })
}

// reporting is the report command as the command line asks for it.
type reporting struct {
	flags *flag.FlagSet
	html  string
}

func newReporting(stdout io.Writer) *reporting {
	r := &reporting{flags: flagSet("loadgen report", helpReport, stdout)}
	r.flags.StringVar(&r.html, "html", "", "file for the page; - is standard output")
	return r
}

// runReport shows saved runs: one as text or as a page, two as a page with both.
func runReport(_ context.Context, args []string, stdout, _ io.Writer) (int, error) {
	r := newReporting(stdout)
	names, err := parseMixed(r.flags, args)
	if err != nil {
		return exitUsage, err
	}
	if len(names) == 0 || len(names) > page.RunsMost {
		return exitUsage, usagef("want one run or two, not %d: loadgen report A.json [B.json]", len(names))
	}
	if r.html == "" && len(names) > 1 {
		return exitUsage, usagef("two runs are laid over each other with -html; loadgen compare sets them side by side as text")
	}
	var runs []page.Run
	for i, name := range names {
		d, err := readRun(name)
		if err != nil {
			return exitError, err
		}
		runs = append(runs, page.Run{Name: runNames(names)[i], Doc: d})
	}
	if r.html == "" {
		d := runs[0].Doc
		if err := report.Heading(stdout, d.Config); err != nil {
			return exitError, err
		}
		return exitOK, d.Text(stdout, report.Style{Colour: colourful(stdout)})
	}
	return exitOK, writeTo(r.html, stdout, func(w io.Writer) error { return page.Write(w, runs...) })
}

// runNames are what a page calls the runs of files: their names without the
// extension, with as much of the folders before as tells them apart.
func runNames(files []string) []string {
	out := make([]string, len(files))
	for depth := 1; ; depth++ {
		seen := map[string]bool{}
		longest := 0
		for i, name := range files {
			parts := strings.Split(filepath.ToSlash(filepath.Clean(name)), "/")
			longest = max(longest, len(parts))
			short := strings.Join(parts[max(0, len(parts)-depth):], "/")
			out[i] = strings.TrimSuffix(short, filepath.Ext(short))
			seen[out[i]] = true
		}
		if len(seen) == len(files) {
			return out
		}
		if depth >= longest { // the same file twice
			for i, name := range files {
				base := filepath.Base(name)
				out[i] = fmt.Sprintf("%s (%d)", strings.TrimSuffix(base, filepath.Ext(base)), i+1)
			}
			return out
		}
	}
}
