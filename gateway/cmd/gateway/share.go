package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/node"
)

// settings are the flags of gateway -- COMMAND.
type settings struct {
	listen    addresses
	stdio     bool
	url       string
	isolation string
	plain     bool
	timeout   time.Duration
	idle      time.Duration
	drain     time.Duration
	guard     bool
	logCalls  bool
	logFormat string
	command   []string
}

// addresses is a flag that may be given again.
type addresses []string

func (a *addresses) String() string { return strings.Join(*a, " ") }

func (a *addresses) Set(s string) error {
	*a = append(*a, s)
	return nil
}

func newFlags(s *settings, out io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("gateway", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		_, _ = io.WriteString(out, usage)
		f.PrintDefaults()
	}
	f.Var(&s.listen, "listen", "serve clients at this `address`: http://host:port/path, unix:/path, tcp://host:port or stdio:; may be given again (default "+config.DefaultListen+")")
	f.BoolVar(&s.stdio, "stdio", false, "serve the one client that started this process, over standard input and output")
	f.StringVar(&s.url, "url", "", "share the server at this `address` instead of a COMMAND: unix:/path, tcp://, ws://, wss://, http:// or https://")
	f.StringVar(&s.isolation, "isolation", "shared", "who shares a child: shared, identity or session")
	f.BoolVar(&s.plain, "plain", false, "the server speaks JSON-RPC but not MCP")
	f.DurationVar(&s.timeout, "timeout", gateway.DefaultTimeout, "total time of a call")
	f.DurationVar(&s.idle, "idle", 0, "how long a call may hear nothing, progress included; 0 is no limit")
	f.DurationVar(&s.drain, "drain", node.DefaultDrain, "how long calls may go on after SIGTERM")
	f.BoolVar(&s.guard, "guard", true, "end the child if this process is killed, by a small process beside it")
	f.BoolVar(&s.logCalls, "log-calls", false, "log a line for each call")
	f.StringVar(&s.logFormat, "log-format", "text", "text or json")
	return f
}

func parse(args []string, out io.Writer) (*settings, error) {
	s := &settings{}
	f := newFlags(s, io.Discard)
	switch err := f.Parse(args); {
	case err == flag.ErrHelp: //nolint:errorlint // it is returned as it is
		f.SetOutput(out)
		newFlags(&settings{}, out).Usage()
		return nil, flag.ErrHelp
	case err != nil:
		return nil, &usageError{err.Error()}
	}
	s.command = f.Args()
	switch {
	case len(s.command) == 0 && s.url == "":
		return nil, &usageError{"no COMMAND to share"}
	case len(s.command) > 0 && s.url != "":
		return nil, &usageError{"-url and a COMMAND exclude each other"}
	}
	if s.stdio {
		s.listen = append(s.listen, "stdio:")
	}
	if len(s.listen) == 0 {
		s.listen = addresses{config.DefaultListen}
	}
	return s, nil
}

// config is what the flags say, checked like a file.
func (s *settings) config() (*config.Config, error) {
	u := config.Upstream{Command: s.command, URL: s.url, Isolation: s.isolation}
	u.Deadlines.Total, u.Deadlines.Idle = s.timeout, s.idle
	if s.plain {
		u.Protocol = "jsonrpc"
	}
	c := &config.Config{Upstreams: map[string]config.Upstream{"server": u}, Drain: s.drain, Guard: &s.guard}
	c.Log.Calls, c.Log.Format = s.logCalls, s.logFormat
	for _, a := range s.listen {
		c.Listen = append(c.Listen, config.Listen{Address: a})
	}
	return c, c.Check("command line")
}

func share(ctx context.Context, args []string, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	// A server is started when the first client comes, which is late to hear of a typing error.
	if len(s.command) > 0 {
		if _, err := exec.LookPath(s.command[0]); err != nil {
			return fmt.Errorf("the command cannot be started: %w", err)
		}
	}
	c, err := s.config()
	if err != nil {
		return err
	}
	return serve(ctx, c, nil, stderr)
}
