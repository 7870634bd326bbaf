package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// Exit codes.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

type settings struct {
	unix, tcp string
	dial      string
	plain     bool
	timeout   time.Duration
	idle      time.Duration
	drain     time.Duration
	command   []string
}

const usage = `usage: gateway [flags] -- COMMAND [ARG...]

Shares one server among many clients: COMMAND runs once, as a child process.
Without -unix and -tcp the one client is whoever started the gateway, over
standard input and output.

`

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("gateway", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		_, _ = io.WriteString(stderr, usage)
		f.PrintDefaults()
	}
	f.StringVar(&s.unix, "unix", "", "serve clients at this unix socket")
	f.StringVar(&s.tcp, "tcp", "", "serve clients at this address, a message a line")
	f.StringVar(&s.dial, "dial", "", "share the server at this unix socket instead of a COMMAND")
	f.BoolVar(&s.plain, "plain", false, "the server speaks JSON-RPC but not MCP")
	f.DurationVar(&s.timeout, "timeout", gateway.DefaultTimeout, "total time of a call")
	f.DurationVar(&s.idle, "idle", 0, "how long a call may hear nothing, progress included; 0 is no limit")
	f.DurationVar(&s.drain, "drain", 10*time.Second, "how long calls may go on after SIGTERM")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.command = f.Args()
	switch {
	case len(s.command) == 0 && s.dial == "":
		return s, errors.New("no COMMAND to share")
	case len(s.command) > 0 && s.dial != "":
		return s, errors.New("-dial and a COMMAND exclude each other")
	case s.unix != "" && s.tcp != "":
		return s, errors.New("-unix and -tcp exclude each other")
	}
	return s, nil
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "gateway: %v\n", err)
		return exitUsage
	}
	if err := serve(ctx, s, stderr); err != nil {
		_, _ = fmt.Fprintf(stderr, "gateway: %v\n", err)
		return exitFail
	}
	return exitOK
}

func (s settings) opener(stderr io.Writer) link.Opener {
	if s.dial != "" {
		return upstream.Dial("unix", s.dial, conn.Options{})
	}
	return upstream.Child(conn.Command{Path: s.command[0], Args: s.command[1:], Stderr: stderr}, conn.Options{})
}

func serve(ctx context.Context, s settings, stderr io.Writer) error {
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
		Name: "server", Opener: s.opener(stderr), Isolation: gateway.Shared, Plain: s.plain, Timeout: s.timeout, IdleTimeout: s.idle,
	}}})
	if err != nil {
		return err
	}
	defer func() { _ = g.Close() }()
	// The clients are let go of when their calls are over, not at the signal.
	clients, release := context.WithCancel(context.Background())
	defer release()
	stop := context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(context.Background(), s.drain)
		defer cancel()
		_ = g.Drain(limit)
		release()
	})
	defer stop()
	network, address := "unix", s.unix
	switch {
	case s.tcp != "":
		network, address = "tcp", s.tcp
	case s.unix == "":
		return stopped(downstream.Stdio(clients, g, downstream.Options{}))
	}
	l, err := new(net.ListenConfig).Listen(ctx, network, address)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(stderr, "gateway: serving at %s %s\n", network, l.Addr())
	return stopped(downstream.Listen(clients, g, l, downstream.Options{}))
}

// stopped takes the end that was asked for as no error.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, conn.ErrClosed) {
		return nil
	}
	return err
}
