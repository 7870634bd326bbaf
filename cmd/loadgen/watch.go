package main

import (
	"context"
	"flag"
	"io"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/report"
)

// watcher looks on while a run goes on and gets its document in the end. What it
// does costs the process that measures, so it is off unless its flags ask for it.
type watcher interface {
	// flags adds its flags to those of a run.
	flags(f *flag.FlagSet)
	// wanted reports whether they ask for it. An error is a mistake in them.
	wanted() (bool, error)
	// begin is called before the run begins. What a person should know, such as an
	// address, goes to w. ctx ends with the program.
	begin(ctx context.Context, live *report.Live, control *drive.Control, w io.Writer) error
	// end gets the finished document, or nil if the run did not come so far, and
	// returns when nothing is left to do. It is called once after each begin that
	// succeeded.
	end(d *report.Document) error
}

// newWatchers lists what can look on.
func newWatchers() []watcher {
	return []watcher{new(htmlWatcher), new(uiWatcher), new(promWatcher)}
}
