package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/guard"
)

// Exit codes.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

// defaultFile is what run, check and init take without a FILE.
const defaultFile = "gateway.yaml"

func main() {
	guard.Hook()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `usage: gateway [flags] -- COMMAND [ARG...]   share one server among many clients
       gateway run|check|init [FILE]         with a configuration file (gateway.yaml)
       gateway schema|token|help

COMMAND runs once, as a child process that all clients share: what one of them
does there the others may notice. Clients come to http://127.0.0.1:8808/mcp,
over Streamable HTTP or WebSocket. For a child for each client: -isolation session.

`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	verb, rest := "", args
	if len(args) > 0 {
		verb, rest = args[0], args[1:]
	}
	var err error
	switch verb {
	case "run":
		err = runFile(ctx, rest, stderr)
	case "check":
		err = check(rest, stdout)
	case "init":
		err = initFile(rest, stdout)
	case "schema":
		_, err = stdout.Write(config.Schema())
	case "token":
		token, hash := auth.NewToken()
		_, err = fmt.Fprintf(stdout, "token: %s\nhash:  %s\n", token, hash)
	case "help":
		_, _ = io.WriteString(stdout, usage)
		newFlags(&settings{}, stdout).PrintDefaults()
	default:
		if verb != "" && verb[0] != '-' { // a slip, such as chekc, is no server to start
			return exitCode(&usageError{fmt.Sprintf("unknown verb %q; a COMMAND to share stands behind --", verb)}, stderr)
		}
		err = share(ctx, args, stderr)
	}
	return exitCode(err, stderr)
}

// usageError is a wrong command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func exitCode(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if wrong, ok := errors.AsType[config.Mistakes](err); ok {
		_, _ = fmt.Fprintln(stderr, wrong)
		return exitUsage
	}
	if wrong, ok := errors.AsType[*config.Mistake](err); ok {
		_, _ = fmt.Fprintln(stderr, wrong)
		return exitUsage
	}
	_, _ = fmt.Fprintf(stderr, "gateway: %v\n", err)
	if _, ok := errors.AsType[*usageError](err); ok {
		_, _ = fmt.Fprintln(stderr, "gateway help says how")
		return exitUsage
	}
	return exitFail
}

// file is the one argument of a verb.
func file(args []string) (string, error) {
	switch len(args) {
	case 0:
		return defaultFile, nil
	case 1:
		return args[0], nil
	}
	return "", &usageError{"more than one FILE"}
}

func initFile(args []string, stdout io.Writer) error {
	name, err := file(args)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(config.Sample)
	if err = errors.Join(err, f.Close()); err == nil {
		_, err = fmt.Fprintf(stdout, "wrote %s; now: gateway run %s\n", name, name)
	}
	return err
}
