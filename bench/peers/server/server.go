package server

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
)

// Serve serves one connection until the client leaves, and closes it.
type Serve func(io.ReadWriteCloser) error

// The servers, by name.
const (
	Lines = "lines" // JSON-RPC 2.0, a message a line
	MCP   = "mcp"   // the same with MCP's handshake and one tool
	RPC1  = "rpc1"  // JSON-RPC 1.0 of net/rpc/jsonrpc
	Gob   = "gob"   // net/rpc
	RESP  = "resp"  // Redis
	NATS  = "nats"
	HTTP  = "http"
	GRPC  = "grpc"
)

var servers = map[string]Serve{
	Lines: lines, MCP: mcp, RPC1: rpc1, Gob: gobs, RESP: resp, NATS: nats, HTTP: http, GRPC: grpcEcho,
	OurTools: ourTools, GoSDKTools: goSDKTools, MCPGoTools: mcpGoTools,
}

// Names lists the servers.
func Names() []string { return slices.Sorted(maps.Keys(servers)) }

// Get returns the server of that name. With dropping it leaves [Stuck] requests
// unanswered, which those of line protocols can.
func Get(name string, dropping bool) (Serve, error) {
	s, ok := servers[name]
	if !ok {
		return nil, fmt.Errorf("no server %q: there are %v", name, Names())
	}
	if !dropping {
		return s, nil
	}
	if name != Lines && name != MCP && name != RPC1 {
		return nil, fmt.Errorf("server %q leaves no request unanswered", name)
	}
	return func(c io.ReadWriteCloser) error { return s(Dropping(c)) }, nil
}

// Addresses are where a server listens.
type Addresses struct {
	Unix string `json:"unix"`
	TCP  string `json:"tcp"`
	// Cost is where its process tells what it has spent; see [Cost].
	Cost string `json:"cost"`
}

// Listen serves on a unix socket and on a TCP port of this machine until in ends.
// announce is called once both accept.
func Listen(serve Serve, in io.Reader, announce func(Addresses) error) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	unix, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return err
	}
	defer unix.Close()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer tcp.Close()
	cost, err := net.Listen("unix", filepath.Join(dir, "c"))
	if err != nil {
		return err
	}
	defer cost.Close()
	go tellCost(cost)
	for _, l := range []net.Listener{unix, tcp} {
		go accept(l, serve)
	}
	if err := announce(Addresses{Unix: unix.Addr().String(), TCP: tcp.Addr().String(), Cost: cost.Addr().String()}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

func accept(l net.Listener, serve Serve) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "server:", err)
			return
		}
		go func() {
			if err := serve(c); err != nil && gone(err) != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
}
