package mcpgo

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/mark3labs/mcp-go/client"

	"github.com/correlator-go/correlator/conn"
)

// NewStdioMCPClient is client.NewStdioMCPClient of mcp-go over a Transport: it
// starts the child process at once, and the client with it. env are additions to
// this process's environment.
func NewStdioMCPClient(command string, env []string, args ...string) (*client.Client, error) {
	c := client.NewClient(NewStdio(command, env, args...))
	if err := c.Start(context.Background()); err != nil {
		return nil, fmt.Errorf("failed to start stdio transport: %w", err)
	}
	return c, nil
}

// NewStdio is transport.NewStdio of mcp-go: a child process that speaks over its
// standard input and output, in this process's environment and env. Start starts
// it.
func NewStdio(command string, env []string, args ...string) *Transport {
	return Command(conn.Command{Path: command, Args: args, Env: append(os.Environ(), env...)}, Options{})
}

// Command is a child process, which Start starts. What it writes to its standard
// error goes to command.Stderr, if that is set, and to [Transport.Stderr].
func Command(command conn.Command, o Options) *Transport {
	t := New(nil, o)
	t.stderr = newTail()
	t.open = func(ctx context.Context, o conn.Options) (*conn.Conn, error) {
		own := command
		own.Stderr = t.stderr
		if command.Stderr != nil {
			own.Stderr = io.MultiWriter(t.stderr, command.Stderr)
		}
		return conn.Spawn(ctx, own, o)
	}
	return t
}

// Dial is a server behind a socket: network is "unix", "tcp", "tcp4" or "tcp6".
// Start dials.
func Dial(network, address string, o Options) *Transport {
	return New(func(ctx context.Context, o conn.Options) (*conn.Conn, error) {
		return conn.Dial(ctx, network, address, o)
	}, o)
}

// Stream is a server behind a stream, which belongs to the transport from the
// first Start on.
func Stream(stream io.ReadWriteCloser, o Options) *Transport {
	return New(func(_ context.Context, o conn.Options) (*conn.Conn, error) {
		return conn.New(stream, o)
	}, o)
}
