package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/guard"
	"github.com/correlator-go/correlator/gateway/node"
	"github.com/correlator-go/correlator/gateway/status"
)

func read(name string) (*config.Config, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return config.Parse(name, text, os.LookupEnv)
}

// readFirst is the file that a verb names, when it is read for the first time.
func readFirst(args []string) (name string, c *config.Config, err error) {
	if name, err = file(args); err != nil {
		return name, nil, err
	}
	c, err = read(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; gateway init %s writes one to begin with", err, name)
	}
	return name, c, err
}

// check says what is wrong with a file, what only building from it shows included.
func check(args []string, stdout io.Writer) error {
	name, c, err := readFirst(args)
	if err != nil {
		return err
	}
	if _, err := node.New(c, node.Options{}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: ok: %s, %s to listen\n", name, count(len(c.Upstreams), "upstream"), count(len(c.Listen), "place"))
	return err
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func runFile(ctx context.Context, args []string, stderr io.Writer) error {
	name, c, err := readFirst(args)
	if err != nil {
		return err
	}
	return serve(ctx, c, func() (*config.Config, error) { return read(name) }, stderr)
}

// serve runs a node until ctx ends. again reads its file anew; nil without one.
func serve(ctx context.Context, c *config.Config, again func() (*config.Config, error), stderr io.Writer) error {
	out := status.NewAsyncWriter(stderr, 0)
	defer func() { _ = out.Close() }()
	log := logger(c.Log, out)
	watch := guard.New(guard.Options{Log: log}) // starts nothing before there is a child
	defer func() { _ = watch.Close() }()
	n, err := node.New(c, node.Options{Log: log, Guard: watch, Ready: func(r node.Ready) {
		if c.Log.Format == "json" {
			// Not by log, which would take the page's token out.
			slog.New(slog.NewJSONHandler(out, nil)).Info("serving", "clients", r.Clients, "status", r.Status)
			return
		}
		for _, one := range r.Clients {
			_, _ = fmt.Fprintf(out, "gateway: serving at %s\n", one)
		}
		if r.Status != "" {
			_, _ = fmt.Fprintf(out, "gateway: status page at %s\n", r.Status)
		}
	}})
	if err != nil {
		return err
	}
	if again != nil {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		onReload(ctx, func() { reload(n, again, log) })
	}
	return n.Run(ctx)
}

func reload(n *node.Node, again func() (*config.Config, error), log *slog.Logger) {
	c, err := again()
	if err == nil {
		err = n.Reload(c)
	}
	if err == nil {
		return
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		log.Error("the configuration stays as it was", "error", line)
	}
}

func logger(o config.Log, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{ReplaceAttr: auth.RedactAttr}
	var level slog.Level
	if o.Level != "" && level.UnmarshalText([]byte(o.Level)) == nil {
		options.Level = level
	}
	if o.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
