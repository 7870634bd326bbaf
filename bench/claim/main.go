package claim

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"
)

// DefaultRounds is how often a series runs its contenders unless asked otherwise.
const DefaultRounds = 5

// Main is the whole of a program that checks claims: it reads the flags in args,
// measures, writes the report to out and what it is doing to log, and returns the
// exit code: 0 when nothing falls short, 1 when something does or could not be
// measured, 2 when args make no sense. When args name a role, it plays that
// instead.
func Main(args []string, out, log io.Writer, claims []Claim, roles map[string]Role) int {
	if len(args) > 0 && args[0] == roleFlag {
		if err := play(args[1:], out, roles); err != nil {
			fmt.Fprintln(log, err)
			return 1
		}
		return 0
	}
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(log)
	only := flags.String("only", "", "check the claims whose \"area: name\" matches this `regexp`")
	quick := flags.Bool("quick", false, "one round of everything: a first impression, no verdict to rely on")
	rounds := flags.Int("rounds", DefaultRounds, "rounds of every series")
	list := flags.Bool("list", false, "print the claims and measure nothing")
	asJSON := flags.Bool("json", false, "print JSON, one object a claim")
	asTable := flags.Bool("markdown", false, "print a table in Markdown")
	document := flags.String("update", "", "write the tables of this Markdown `file` anew: the blocks whose claims were all measured")
	profiles := flags.String("profile", "", "write CPU and allocation profiles of every child that measures into this `directory`")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	pattern, err := regexp.Compile(*only)
	if err != nil || flags.NArg() > 0 {
		fmt.Fprintln(log, "check: bad arguments:", err, flags.Args())
		return 2
	}
	if *quick {
		*rounds = 1
	}
	line := report.text
	switch {
	case *asJSON:
		line = report.json
	case *asTable:
		line = report.row
		fmt.Fprint(out, "| area | claim | demanded | measured | |\n|---|---|---:|---:|---|\n")
	}
	began := time.Now()
	session := NewSession(*rounds, log)
	session.Profiles = *profiles
	bad := 0
	var names []string
	var reports []report
	for _, c := range claims {
		names = append(names, c.full())
		if !pattern.MatchString(c.full()) {
			continue
		}
		r := c.check(session, *list)
		reports = append(reports, r)
		if r.Verdict == Short || r.Verdict == Failed {
			bad++
		}
		if _, err := fmt.Fprintln(out, line(r)); err != nil {
			return 1
		}
	}
	fmt.Fprintf(log, "# %d claims, %d short or failed, %.0f s\n", len(reports), bad, time.Since(began).Seconds())
	if *document != "" && !*list {
		if err := update(*document, names, reports, thisRun(began, *rounds)); err != nil {
			fmt.Fprintln(log, "check:", err)
			return 1
		}
	}
	if bad > 0 {
		return 1
	}
	return 0
}
