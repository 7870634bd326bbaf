package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/peers/contest"
)

var roles = map[string]claim.Role{
	contest.ClientChild: contest.Role,
	contest.ServerChild: contest.ServerRole,
	contest.CodecChild:  contest.CodecRole,
	contest.TableChild:  contest.TableRole,
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// errShort says that a demand does not hold, which was reported already.
var errShort = errors.New("short")

// errUsage says that the arguments make no sense, which was reported already.
var errUsage = errors.New("usage")

func run(args []string, out, log io.Writer) int {
	if len(args) > 0 && args[0] == "-role" {
		return claim.Main(args, out, log, nil, roles)
	}
	commands := map[string]func([]string, io.Writer, io.Writer) error{
		"run": measure, "check": check, "judge": judge, "chart": draw, "proxy": serveProxy,
	}
	command := func([]string, io.Writer, io.Writer) error { return errUsage }
	if len(args) > 0 {
		if c, ok := commands[args[0]]; ok {
			command = c
		}
	}
	switch err := command(args[min(1, len(args)):], out, log); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errShort):
		return 1
	case errors.Is(err, errUsage):
		fmt.Fprintln(log, "usage: peers run|check|judge|chart [flags] [FILE]; -h after each says more")
		return 2
	default:
		fmt.Fprintln(log, "peers:", err)
		return 1
	}
}
