package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// The exit codes.
const (
	exitOK    = 0
	exitError = 1 // the run failed, or its counts do not add up
	exitUsage = 2
	exitSLO   = 3 // a goal was missed
)

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the program: it returns the exit code. ctx ends it early.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		command, args = args[0], args[1:]
	}
	var err error
	code := exitOK
	switch command {
	case "", "run":
		code, err = runLoad(ctx, args, stdout, stderr)
	case "serve":
		err = runServe(ctx, args, stdout, stderr)
	case "version":
		_, err = fmt.Fprintln(stdout, version())
	case "help":
		err = help(args, stdout)
	default:
		err = usagef("unknown command %q (run, serve, version, help)", command)
	}
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil {
		return code
	}
	fmt.Fprintf(stderr, "loadgen: %v\n", err)
	if _, ok := errors.AsType[usageError](err); ok {
		hint := "loadgen -h"
		if command == "serve" {
			hint = "loadgen serve -h"
		}
		fmt.Fprintln(stderr, hint, "lists the flags")
		return exitUsage
	}
	return exitError
}

func help(args []string, stdout io.Writer) error {
	text := helpLoad
	if len(args) > 0 {
		switch args[0] {
		case "run":
		case "serve":
			text = helpServe
		default:
			return usagef("no help on %q (run, serve)", args[0])
		}
	}
	_, err := io.WriteString(stdout, text)
	return err
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
	// Parse prints the usage on every mistake; here only -h does.
	usage := f.Usage
	f.Usage = func() {}
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage()
			return err
		}
		return usageError{err}
	}
	if f.NArg() > 0 {
		return usagef("unexpected argument %q: a target with spaces needs quotes, and flags stand before it", f.Arg(0))
	}
	return nil
}
