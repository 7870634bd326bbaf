package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/upstream"
	"github.com/correlator-go/correlator/internal/cputime"
	"github.com/correlator-go/correlator/internal/echo"
)

// usage is what a process says of itself when it is asked.
type usage struct {
	CPU     float64 `json:"cpu"` // seconds
	Mallocs uint64  `json:"mallocs"`
	Memory  uint64  `json:"memory"` // bytes of heap and stacks in use, if it was collected
}

// role is one process of the measurement. It says "ready" when clients may come, then
// its usage for each line that it reads ("gc" collects first), and ends with its input.
func role(name string, args []string) int {
	serve := map[string]func([]string) error{"echo": echoes, "silent": silent, "copy": copies, "gateway": passes, "leaver": leaves, "node": joins}[name]
	if serve == nil {
		return 2
	}
	if err := serve(args); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, name+":", err)
		return 1
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() == "gc" {
			runtime.GC()
			debug.FreeOSMemory()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		cpu, _ := cputime.Used() // where it is not known the claims of it fail
		text, err := json.Marshal(usage{CPU: cpu.Seconds(), Mallocs: m.Mallocs, Memory: m.HeapInuse + m.StackInuse})
		if err != nil {
			return 1
		}
		fmt.Println(string(text))
	}
	return 0
}

// accept serves each client of a socket on a goroutine of its own.
func accept(socket string, serve func(net.Conn)) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return nil
}

// echoes is the server that is called.
func echoes(args []string) error {
	return accept(args[0], func(c net.Conn) { _ = echo.Serve(c, echo.Options{MCP: true}) }) // its client has gone
}

// silent is a server that answers the handshake, and calls that ask for it.
func silent(args []string) error {
	return accept(args[0], func(c net.Conn) {
		frames := codec.NewReader(c, codec.ReaderOptions{Framer: codec.LineFramer{}})
		var m codec.Message
		for frames.ReadMessage(&m) == nil {
			var answer []byte
			switch method := string(m.Method()); {
			case method == "initialize":
				answer = codec.AppendResult(nil, m.RawID(), []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"silent","version":"1"}}`))
			case method == "server/discover":
				answer = codec.AppendError(nil, m.RawID(), &codec.Error{Code: codec.CodeMethodNotFound, Message: "no such method"})
			case method == answered:
				answer = codec.AppendResult(nil, m.RawID(), []byte("{}"))
			default:
				continue
			}
			if _, err := c.Write(append(bytes.TrimSpace(answer), '\n')); err != nil {
				return
			}
		}
	})
}

// copies is the floor of a proxy.
func copies(args []string) error {
	return accept(args[0], func(c net.Conn) {
		server, err := net.Dial("unix", args[1])
		if err != nil {
			_ = c.Close()
			return
		}
		rival.ByteCopy(c, server)
	})
}

// passes is the gateway, whose clients share one way to the server.
func passes(args []string) error {
	return passesTo(args[0], upstream.Dial("unix", args[1], conn.Options{WriteBuffer: 64 << 20}))
}

func passesTo(socket string, server link.Opener) error {
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
		Name: "echo", Opener: server, Isolation: gateway.Shared,
		Limit: limit.Options{MaxInFlight: 1 << 18, MaxQueued: 1 << 18, MaxQueuedClient: 1 << 18},
	}}})
	if err != nil {
		return err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	// Both serve until the process ends. A client that has gone is waited for no longer
	// than it takes to see that.
	go func() {
		_ = downstream.Listen(context.Background(), g, l, downstream.Options{MaxConnections: -1, Conn: conn.Options{CloseTimeout: time.Millisecond}})
	}()
	return web(g, socket+webSocket)
}

// web serves the gateway's clients over HTTP.
func web(g *gateway.Gateway, socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	var o downstream.HTTPOptions
	o.WebSocket.MaxConnections, o.Limits.MaxConnections = 1<<20, 1<<20
	o.Front.Detach = true
	endpoint, err := downstream.NewEndpoint(g, o)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	go func() {
		_ = downstream.ServeHTTP(context.Background(), l, mux, downstream.ServerOptions{MaxConnections: -1}, endpoint.Close)
	}()
	return nil
}
