package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/target"
)

// The exit codes.
const (
	exitOK    = 0
	exitError = 1 // the run failed, or its counts do not add up
	exitUsage = 2
	exitSLO   = 3 // a goal was missed, or a comparison shows a regression
)

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// command is a subcommand.
type command struct {
	name string
	does string // in a few words, for completion
	help string
	run  func(ctx context.Context, args []string, stdout, stderr io.Writer) (exit int, err error)
	// flags are its flags, for completion; nil for none.
	flags func() *flag.FlagSet
}

// commands lists the subcommands. The first is what runs when none is named.
func commands() []command {
	return []command{
		{"run", "load a target", helpRun, runLoad, func() *flag.FlagSet { return newSettings(io.Discard).flags }},
		{"serve", "be an echo server that misbehaves on request", helpServe, runServe, func() *flag.FlagSet { return newServer(io.Discard).flags }},
		{"compare", "tell what changed between runs, and what is noise", helpCompare, runCompare, func() *flag.FlagSet { return newComparing(io.Discard).flags }},
		{"report", "show saved runs, as text or as an HTML page", helpReport, runReport, func() *flag.FlagSet { return newReporting(io.Discard).flags }},
		{"completion", "print a completion script", helpCompletion, runCompletion, nil},
		{"version", "what was built, with which Go", helpVersion, runVersion, nil},
	}
}

func commandOf(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func commandNames() string {
	names := []string{}
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return strings.Join(append(names, "help"), ", ")
}

// run is the program: it returns the exit code. ctx ends it early.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	name := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	code, err := dispatch(ctx, name, args, stdout, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil {
		return code
	}
	fmt.Fprintf(stderr, "loadgen: %v\n", err)
	if gone, ok := errors.AsType[*conn.PeerGone](err); ok {
		printTail(stderr, gone.StderrTail)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		hint := "loadgen -h"
		if name == "" {
			name = commands()[0].name
		}
		if _, ok := commandOf(name); ok {
			hint = "loadgen " + name + " -h"
		}
		fmt.Fprintln(stderr, "see", hint)
		return exitUsage
	}
	return exitError
}

// tailLines is how much of what a child said last is shown: npm and interpreters
// name the cause some lines before the end.
const tailLines = 15

// printTail shows the last lines of a child's standard error, where there are more
// than the one that the error has.
func printTail(w io.Writer, tail []byte) {
	lines := strings.Split(strings.TrimSpace(string(tail)), "\n")
	if len(lines) < 2 {
		return
	}
	for _, line := range lines[max(0, len(lines)-tailLines):] {
		fmt.Fprintln(w, "  |", strings.TrimRight(line, "\r\t "))
	}
}

func dispatch(ctx context.Context, name string, args []string, stdout, stderr io.Writer) (int, error) {
	switch {
	case name == "help":
		return exitOK, help(args, stdout)
	case name == "" && len(args) > 0 && isHelp(args[0]):
		return exitOK, help(nil, stdout)
	case name == "" && len(args) > 0 && isVersion(args[0]):
		name, args = "version", args[1:]
	case name == "":
		name = commands()[0].name
	}
	c, ok := commandOf(name)
	if !ok {
		return exitUsage, usagef("unknown command %q (%s)", name, commandNames())
	}
	return c.run(ctx, args, stdout, stderr)
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" || arg == "--h" }

func isVersion(arg string) bool { return arg == "-version" || arg == "--version" }

func help(args []string, stdout io.Writer) error {
	text := helpAll
	if len(args) > 0 {
		c, ok := commandOf(args[0])
		if !ok {
			return usagef("no help on %q (%s)", args[0], commandNames())
		}
		text = c.help
	}
	_, err := io.WriteString(stdout, text)
	return err
}

func runVersion(_ context.Context, args []string, stdout, _ io.Writer) (int, error) {
	if err := parse(flagSet("loadgen version", helpVersion, stdout), args); err != nil {
		return exitUsage, err
	}
	_, err := fmt.Fprintln(stdout, version())
	return exitOK, err
}

func version() string {
	v := "unknown"
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		v = b.Main.Version
	}
	return fmt.Sprintf("loadgen %s %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// flagSet is a set of flags whose -h prints text, and whose mistakes are usage
// errors.
func flagSet(name, text string, stdout io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints the error, once
	f.Usage = func() { _, _ = io.WriteString(stdout, text) }
	return f
}

// parse reads args, of which none may be left over.
func parse(f *flag.FlagSet, args []string) error {
	if err := parseSome(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return stray(f)
	}
	return nil
}

// stray says what is wrong with an argument that no flag takes.
func stray(f *flag.FlagSet) error {
	arg := f.Arg(0)
	if f.Lookup("target") != nil {
		if _, err := target.Parse(arg); err == nil {
			return usagef("unexpected argument %q: a target stands behind -target", arg)
		}
	}
	return usagef("unexpected argument %q: there are only flags here, and a value with spaces needs quotes", arg)
}

// parseSome reads the flags of args and leaves the rest in f.Args.
func parseSome(f *flag.FlagSet, args []string) error {
	// Parse prints the usage on every mistake; here only -h does.
	usage := f.Usage
	f.Usage = func() {}
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage()
			return err
		}
		return usageError{wanting(f, err)}
	}
	return nil
}

// wanting says what a flag's value should look like where package flag says
// "parse error" alone.
func wanting(f *flag.FlagSet, err error) error {
	text, ok := strings.CutSuffix(err.Error(), ": parse error")
	if !ok || !strings.Contains(text, " for flag -") {
		return err
	}
	const before = " for flag -"
	known := f.Lookup(text[strings.LastIndex(text, before)+len(before):])
	if known == nil {
		return err
	}
	getter, ok := known.Value.(flag.Getter)
	if !ok {
		return err
	}
	switch getter.Get().(type) {
	case time.Duration:
		return fmt.Errorf("%s: want a duration such as 500ms or 5s", text)
	case int, int64:
		return fmt.Errorf("%s: want a whole number", text)
	case uint64:
		return fmt.Errorf("%s: want a whole number from 0 on", text)
	}
	return err
}
