package contest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/server"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
)

// The transports.
const (
	Unix = report.Unix
	TCP  = report.TCP
	Pipe = report.Pipe
)

// callTimeout is that of every call that is expected to be answered.
const callTimeout = 30 * time.Second

// Cell is one measurement of one client against one server.
type Cell struct {
	Scenario report.Scenario `json:"scenario"`
	Client   string          `json:"client"`
	Server   string          `json:"server"`
	// Dropping servers leave stuck calls unanswered.
	Dropping  bool   `json:"dropping"`
	Transport string `json:"transport"`
	Address   string `json:"address"`
	// Costs is where the server tells its cost, for rows about servers.
	Costs   string `json:"costs"`
	Callers int    `json:"callers"`
	Bytes   int    `json:"bytes"`
	// Rate of an open loop.
	Rate float64 `json:"rate"`
	// Profile is the path of [claim.Profile]. Empty takes none.
	Profile      string        `json:"profile"`
	Warm, Window time.Duration // of load.Plan, as are the next two
	Most, Budget time.Duration
}

// Role measures the cell that is its only argument, as a child process.
func Role(args []string) (_ claim.Values, err error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	var c Cell
	if err := json.Unmarshal([]byte(args[0]), &c); err != nil {
		return nil, err
	}
	// Some clients deadlock where no loop of ours can see it.
	limit := c.Warm + c.Window + 3*c.Most + c.Budget + 5*time.Second
	timer := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "over the budget of %v: a deadlock, or too slow\n", limit)
		os.Exit(1)
	})
	defer timer.Stop()
	if c.Profile != "" {
		end, failed := claim.Profile(c.Profile)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	f, err := c.Measure()
	return claim.Values(f), err
}

// ServerRole serves the protocol that is its first argument until its standard
// input ends; a second one, "dropping", makes it leave stuck calls unanswered. It
// prints its addresses as one line of JSON.
func ServerRole(args []string) (claim.Values, error) {
	if len(args) == 0 {
		return nil, errors.New("no server named")
	}
	serve, err := server.Get(args[0], len(args) > 1 && args[1] == "dropping")
	if err != nil {
		return nil, err
	}
	return nil, server.Listen(serve, os.Stdin, func(a server.Addresses) error { return json.NewEncoder(os.Stdout).Encode(a) })
}

// counted counts the write calls of a stream.
type counted struct {
	io.ReadWriteCloser
	writes *atomic.Int64
}

// TryWrite writes what need not wait, and counts; see conn.TryWriter.
func (c counted) TryWrite(p []byte) (int, error) {
	try := conn.TryWriterOf(c.ReadWriteCloser)
	if try == nil {
		return 0, nil
	}
	c.writes.Add(1)
	return try.TryWrite(p)
}

// Write writes and counts.
func (c counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.ReadWriteCloser.Write(p)
}

// countedConn is counted for connections that are more than a stream.
type countedConn struct {
	net.Conn
	writes *atomic.Int64
	try    conn.TryWriter // nil where a socket has no write that never waits
}

// TryWrite writes what need not wait, and counts; see conn.TryWriter.
func (c countedConn) TryWrite(p []byte) (int, error) {
	if c.try == nil {
		return 0, nil
	}
	c.writes.Add(1)
	return c.try.TryWrite(p)
}

// Write writes and counts.
func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// link returns how the client reaches its server, and what counts its writes.
func (c *Cell) link() (peer.Link, load.Meter, error) {
	writes := new(atomic.Int64)
	link := peer.Link{Callers: c.Callers, Bytes: c.Bytes, Dial: func() (io.ReadWriteCloser, error) {
		socket, err := net.Dial(c.Transport, c.Address)
		if err != nil {
			return nil, err
		}
		return countedConn{socket, writes, conn.TryWriterOf(socket)}, nil
	}}
	if c.Transport == Pipe {
		serve, err := server.Get(c.Server, c.Dropping)
		if err != nil {
			return peer.Link{}, load.Meter{}, err
		}
		link.Dial = func() (io.ReadWriteCloser, error) {
			near, far := echo.Pipe()
			go func() { _ = serve(far) }() // it ends with near, which tells of any error
			return counted{near, writes}, nil
		}
	}
	return link, load.Meter{Writes: writes.Load}, nil
}

func (c *Cell) work() peer.Work {
	return peer.Work{Name: server.Method, Text: strings.Repeat("x", c.Bytes), Timeout: callTimeout}
}

func (c *Cell) plan() load.Plan {
	return load.Plan{Warm: c.Warm, Window: c.Window, Most: c.Most, Budget: c.Budget}
}

// Measure measures the cell in this process.
func (c *Cell) Measure() (load.Figures, error) {
	switch {
	case c.Client == TimerClient:
		return c.timers()
	case c.Client == WakeClient:
		return c.waking()
	case c.Scenario == report.Servers:
		return c.servers()
	}
	p, err := peer.Get(c.Client)
	if err != nil {
		return nil, err
	}
	link, meter, err := c.link()
	if err != nil {
		return nil, err
	}
	client, err := p.Open(link)
	if err != nil {
		return nil, fmt.Errorf("opening: %w", err)
	}
	measure := map[report.Scenario]func(peer.Client, load.Meter) (load.Figures, error){
		report.Closed: c.closed, report.Loadgen: c.closed, report.Adapters: c.closed, report.Open: c.open, report.Stuck: c.stuck, report.Expiry: c.expiry,
	}[c.Scenario]
	if measure == nil {
		return nil, fmt.Errorf("no scenario %q", c.Scenario)
	}
	return measure(client, meter) // the process ends with it: some clients cannot be closed
}

func (c *Cell) closed(client peer.Client, meter load.Meter) (load.Figures, error) {
	w := c.work()
	if client.Pump != nil {
		return load.Pumped(c.Callers, c.plan(), meter, func(l *load.Loop) error { return client.Pump(w, c.Callers, l) })
	}
	return load.Closed(c.Callers, c.plan(), meter, func() (func() error, error) { return client.Caller(w) })
}

// reason is the last line of what a child said of its failure.
func reason(err error) string {
	text := []byte(err.Error())
	if _, after, ok := bytes.Cut(text, []byte("exit status ")); ok {
		if _, after, ok = bytes.Cut(after, []byte(": ")); ok {
			text = after
		}
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	const most = 160
	last := lines[len(lines)-1]
	return string(last[:min(len(last), most)])
}
