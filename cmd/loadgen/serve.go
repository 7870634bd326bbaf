package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/correlator-go/correlator/internal/accept"
	"github.com/correlator-go/correlator/internal/echo"
)

// defaultLateBy lies beyond the default timeout of a client.
const defaultLateBy = defaultTimeout + time.Second

// server is an echo server as the command line asks for it.
type server struct {
	flags                    *flag.FlagSet
	echo                     echo.Options
	listen, framing, profile string
	quiet                    bool
	counts                   string
}

func newServer(stdout io.Writer) *server {
	s := &server{}
	f := flagSet("loadgen serve", helpServe, stdout)
	s.flags = f
	f.StringVar(&s.listen, "listen", "tcp:127.0.0.1:0", "tcp:host:port, unix:/path, ws:host:port or stdio")
	f.StringVar(&s.framing, "framing", "line", "line, headers or length")
	f.StringVar(&s.profile, "profile", "mcp", "mcp, jsonrpc or lsp")
	f.BoolVar(&s.echo.MCP, "mcp", false, "answer as an MCP server")
	f.BoolVar(&s.echo.Discover, "discover", false, "and answer server/discover")
	f.Uint64Var(&s.echo.Seed, "seed", 1, "of everything random")
	f.BoolVar(&s.quiet, "quiet", false, "no counters at the end")
	f.StringVar(&s.counts, "o", "", "file for the counters at the end, as JSON")
	shapeFlags(f, &s.echo.Shape)
	return s
}

func parseServer(args []string, stdout io.Writer) (*server, error) {
	s := newServer(stdout)
	if err := parse(s.flags, args); err != nil {
		return nil, err
	}
	o := &s.echo
	var err error
	if o.Framer, err = framerOf(s.framing); err != nil {
		return nil, err
	}
	if o.Profile, err = profileOf(s.profile); err != nil {
		return nil, err
	}
	if o.Shape.Late > 0 && o.Shape.LateBy == 0 {
		o.Shape.LateBy = defaultLateBy
	}
	if err := o.Shape.Validate(); err != nil {
		return nil, usageError{err}
	}
	o.MCP = o.MCP || o.Discover
	o.Counters = new(echo.Counters)
	network, _, found := strings.Cut(s.listen, ":")
	if s.listen != "stdio" && (!found || network != "tcp" && network != "unix" && network != "ws") {
		return nil, usagef("listen %q: want tcp:host:port, unix:/path, ws:host:port or stdio", s.listen)
	}
	return s, nil
}

// runServe is the echo server.
func runServe(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	s, err := parseServer(args, stdout)
	if err != nil {
		return exitUsage, err
	}
	s.echo.Quit = ctx.Done()
	if s.listen == "stdio" {
		err = serveStdio(ctx, s.echo)
	} else {
		network, address, _ := strings.Cut(s.listen, ":")
		serve := serveSocket
		if network == "ws" {
			network, serve = "tcp", serveWebSockets
		}
		listener, failed := listenOn(ctx, network, address)
		if failed != nil {
			return exitError, failed
		}
		err = serve(ctx, listener, s.echo, stdout, stderr)
	}
	if told := s.tell(stderr); err == nil {
		err = told
	}
	if err != nil {
		return exitError, err
	}
	return exitOK, nil
}

// tell gives the counters, as one line of JSON.
func (s *server) tell(stderr io.Writer) error {
	counts, err := json.Marshal(s.echo.Counters.Snapshot())
	if err == nil && !s.quiet {
		_, err = fmt.Fprintf(stderr, "loadgen serve: %s\n", counts)
	}
	if err == nil && s.counts != "" {
		err = os.WriteFile(s.counts, append(counts, '\n'), 0o666)
	}
	return err
}

// stdio is this process's standard input and output.
type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error                { return errors.Join(os.Stdin.Close(), os.Stdout.Close()) }

// serveStdio serves until standard input ends. A read of it may not be
// interruptible, so when ctx ends the server is left behind.
func serveStdio(ctx context.Context, o echo.Options) error {
	served := make(chan error, 1)
	go func() { served <- echo.Serve(stdio{}, o) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return nil
	}
}

// serveSocket serves every connection that listener takes until ctx ends.
func serveSocket(ctx context.Context, listener net.Listener, o echo.Options, stdout, stderr io.Writer) error {
	fmt.Fprintf(stdout, "listening on %s:%s\n", listener.Addr().Network(), listener.Addr())
	var (
		serving sync.WaitGroup
		mu      sync.Mutex // protects open
		open    = map[net.Conn]bool{}
	)
	defer serving.Wait()
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() {
		_ = listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for c := range open {
			_ = c.Close()
		}
	})
	defer cancel()
	for {
		c, err := accept.Next(ctx, listener)
		if ctx.Err() != nil && err != nil {
			return nil
		}
		if err != nil {
			return err
		}
		mu.Lock()
		open[c] = true
		if ctx.Err() != nil {
			_ = c.Close() // it came while the others were being closed
		}
		mu.Unlock()
		serving.Go(func() {
			if err := echo.Serve(c, o); err != nil && ctx.Err() == nil {
				fmt.Fprintf(stderr, "loadgen serve: %v\n", err)
			}
			mu.Lock()
			delete(open, c)
			mu.Unlock()
		})
	}
}

// listenOn listens, and takes over a unix socket that a server left behind when
// it died: one that nobody answers on.
func listenOn(ctx context.Context, network, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, network, address)
	if err == nil || network != "unix" {
		return listener, err
	}
	if info, stat := os.Stat(address); stat != nil || info.Mode()&os.ModeSocket == 0 {
		return nil, err
	}
	if c, dial := net.Dial(network, address); dial == nil {
		_ = c.Close()
		return nil, err // somebody does
	}
	if os.Remove(address) != nil {
		return nil, err
	}
	return config.Listen(ctx, network, address)
}
