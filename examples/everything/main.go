package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

func main() {
	address := flag.String("http", "", "serve Streamable HTTP on this `address`, such as 127.0.0.1:8932, instead of stdio")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "everything: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *address); err != nil {
		fmt.Fprintln(os.Stderr, "everything:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address string) error {
	s, err := newServer()
	if err != nil {
		return err
	}
	defer s.Close()
	if address == "" {
		return s.Stdio(ctx)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "everything: http://%s/mcp\n", l.Addr())
	return serveHTTP(ctx, s, l)
}

// serveHTTP serves until ctx ends, and then lets what is in flight be answered.
func serveHTTP(ctx context.Context, s *serve.Server, l net.Listener) error {
	endpoint, err := s.HTTP(serve.HTTPOptions{})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	mux.Handle("/{$}", endpoint) // for clients that are given no more than an address
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := s.Shutdown(grace) // ends the streams, which the web server waits for
		if failed := web.Shutdown(grace); err == nil {
			err = failed
		}
		stopped <- err
	}()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// newServer makes the server of everything.
func newServer() (*serve.Server, error) {
	var e everything
	d, err := mcp.NewServer(mcp.Description{
		Info:         mcp.Implementation{Name: "correlator-everything", Title: "Everything", Version: "1.0.0"},
		Instructions: "A server for trying out clients: each tool shows one thing that MCP can do.",
		Tools:        e.tools(),
		Resources:    resources(),
		Templates:    templates(),
		Prompts:      prompts(),
		Complete:     complete,
		Logging:      true,
		Cache:        mcp.Cache{TTLMillis: 1000, Public: true},
	})
	if err != nil {
		return nil, err
	}
	e.server, err = serve.New(d, serve.Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	return e.server, err
}

// everything is what the tools that change the server have to reach.
type everything struct{ server *serve.Server }

func (e *everything) tools() []mcp.ServerTool {
	var all []mcp.ServerTool
	all = append(all, contentTools()...)
	all = append(all, runningTools()...)
	all = append(all, olderInputTools()...)
	all = append(all, inputTools()...)
	return append(all, e.diagnosticTools()...)
}
