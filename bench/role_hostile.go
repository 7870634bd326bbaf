package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/serve"
)

// serveWeb serves Streamable HTTP on a port of this machine.
func serveWeb(s *serve.Server) (address string, stop func(), err error) {
	h, err := s.HTTP(serve.HTTPOptions{})
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	web := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = web.Serve(l) }()
	return l.Addr().String(), func() { _ = web.Close() }, nil
}

// What a hostile client does, by how much. It is one client among others: what it
// sends in a second is bounded, since who can send without bound takes the
// processor from everybody by the kernel's doing alone.
const (
	hostileUnread   = 10_000 // requests whose answers it does not read
	hostileHalfOpen = 32     // connections that stop in the middle of a frame
	hostileSlow     = 16     // event streams of which it reads a byte now and then
	hostilePause    = 2 * time.Millisecond
	hostileStorm    = 8 // requests that it cancels at once, and as many broken lines, after each pause
)

// hostileRole is the client that means no good, until its standard input ends. Its
// arguments are the server's unix socket and HTTP address. It prints a line once
// all of it is under way.
func hostileRole(args []string) (claim.Values, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	return nil, attack(args[0], args[1], os.Stdin, os.Stdout)
}

func attack(stream, web string, in io.Reader, out io.Writer) error {
	var open []io.Closer
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	dial := func(network, address, first string) (net.Conn, error) {
		c, err := net.Dial(network, address)
		if err != nil {
			return nil, err
		}
		open = append(open, c)
		_, err = io.WriteString(c, first)
		return c, err
	}
	for range hostileHalfOpen {
		if _, err := dial("unix", stream, `{"jsonrpc":"2.0","id":1,"method":"tools/ca`); err != nil {
			return err
		}
	}
	for range hostileSlow {
		call := toolCall(1, "report", "{}", `,"progressToken":1`)
		c, err := dial("tcp", web, "POST / HTTP/1.1\r\nHost: "+web+"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
			"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: report\r\nContent-Length: "+fmt.Sprint(len(call))+"\r\n\r\n"+call)
		if err != nil {
			return err
		}
		go readSlowly(c)
	}
	deaf, err := dial("unix", stream, "")
	if err != nil {
		return err
	}
	// Who does not read is not read from: this ends when the connection does.
	go func() {
		for i := range hostileUnread {
			if _, err := io.WriteString(deaf, toolCall(i, "echo", `{"text":"nobody will ever read this again"}`, "")); err != nil {
				return
			}
		}
	}()
	storm, err := dial("unix", stream, "")
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, storm) }()
	var stop atomic.Bool
	ended := make(chan error, 1)
	go func() { ended <- cancelStorm(storm, &stop) }()
	_, err = fmt.Fprintln(out, "under-way")
	_, end := io.Copy(io.Discard, in)
	stop.Store(true)
	return errors.Join(err, end, <-ended)
}

// cancelStorm sends requests and cancels them at once, and lines that are none.
func cancelStorm(to io.Writer, stop *atomic.Bool) error {
	var burst bytes.Buffer
	tick := time.NewTicker(hostilePause)
	defer tick.Stop()
	for id := 1; !stop.Load(); {
		burst.Reset()
		for range hostileStorm {
			burst.WriteString(toolCall(id, "wait", "{}", ""))
			fmt.Fprintf(&burst, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", id)
			fmt.Fprintf(&burst, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":[[[[{\x00\xff\n", id)
			id++
		}
		if _, err := to.Write(burst.Bytes()); err != nil {
			return err
		}
		<-tick.C
	}
	return nil
}

// readSlowly reads a byte now and then until the connection ends.
func readSlowly(r io.Reader) {
	var b [1]byte
	tick := time.NewTicker(10 * hostilePause)
	defer tick.Stop()
	for range tick.C {
		if _, err := r.Read(b[:]); err != nil {
			return
		}
	}
}
