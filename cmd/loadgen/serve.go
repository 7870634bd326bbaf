package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/correlator-go/correlator/internal/echo"
)

// defaultLateBy lies beyond the default timeout of a client.
const defaultLateBy = defaultTimeout + time.Second

// runServe is the echo server.
func runServe(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o echo.Options
	var listen, framing, profile string
	var quiet bool
	f := flagSet("loadgen serve", helpServe, stdout)
	f.StringVar(&listen, "listen", "tcp:127.0.0.1:0", "")
	f.StringVar(&framing, "framing", "line", "")
	f.StringVar(&profile, "profile", "mcp", "")
	f.BoolVar(&o.MCP, "mcp", false, "")
	f.BoolVar(&o.Discover, "discover", false, "")
	f.Uint64Var(&o.Seed, "seed", 1, "")
	f.BoolVar(&quiet, "quiet", false, "")
	shapeFlags(f, &o.Shape)
	if err := parse(f, args); err != nil {
		return err
	}
	var err error
	if o.Framer, err = framerOf(framing); err != nil {
		return err
	}
	if o.Profile, err = profileOf(profile); err != nil {
		return err
	}
	if o.Shape.Late > 0 && o.Shape.LateBy == 0 {
		o.Shape.LateBy = defaultLateBy
	}
	if err := o.Shape.Validate(); err != nil {
		return usageError{err}
	}
	o.MCP = o.MCP || o.Discover
	o.Counters = new(echo.Counters)
	network, address, found := strings.Cut(listen, ":")
	if listen != "stdio" && (!found || network != "tcp" && network != "unix") {
		return usagef("listen %q: want tcp:host:port, unix:/path or stdio", listen)
	}
	var listener net.Listener
	if listen != "stdio" {
		if listener, err = listenOn(ctx, network, address); err != nil {
			return err
		}
	}
	if !quiet {
		defer func() {
			if counts, err := json.Marshal(o.Counters.Snapshot()); err == nil {
				fmt.Fprintf(stderr, "loadgen serve: %s\n", counts)
			}
		}()
	}
	o.Quit = ctx.Done()
	if listen == "stdio" {
		return serveStdio(ctx, o)
	}
	return serveSocket(ctx, listener, o, stdout, stderr)
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
	stop := context.AfterFunc(ctx, func() {
		_ = listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for c := range open {
			_ = c.Close()
		}
	})
	defer stop()
	for {
		c, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
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
