// Package script plays the other end of a connection line by line, and looks
// after what tests leave behind.
package script

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Patience is how long a test waits for what must come.
const Patience = 30 * time.Second

// Peer is a server played line by line.
type Peer struct {
	// Link is its end of the connection.
	Link net.Conn

	t  testing.TB
	in *bufio.Reader
}

// Line is one message.
type Line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Text   string          `json:"-"` // the whole line
}

// Pair gives both ends of a unix socket, which are the caller's to close.
func Pair(t testing.TB) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer l.Close()
	near, err = net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	far, err = l.Accept()
	require.NoError(t, err)
	return near, far
}

// New gives a stream and the peer behind it, which is gone after the test.
func New(t testing.TB) (net.Conn, *Peer) {
	t.Helper()
	ours, theirs := Pair(t)
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, &Peer{Link: theirs, t: t, in: bufio.NewReader(theirs)}
}

// Read waits for a message.
func (p *Peer) Read() (l Line) {
	p.t.Helper()
	text, err := p.in.ReadString('\n')
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal([]byte(text), &l), "%s", text)
	l.Text = strings.TrimSpace(text)
	return l
}

// ReadBy waits for n messages and gives them by their methods.
func (p *Peer) ReadBy(n int) map[string]Line {
	p.t.Helper()
	lines := map[string]Line{}
	for range n {
		l := p.Read()
		lines[l.Method] = l
	}
	return lines
}

// Say writes a line.
func (p *Peer) Say(format string, args ...any) {
	p.t.Helper()
	_, err := fmt.Fprintf(p.Link, format+"\n", args...)
	require.NoError(p.t, err)
}

// Drop reads and forgets whatever comes, until the connection ends.
func (p *Peer) Drop() { _, _ = io.Copy(io.Discard, p.in) }

// Get waits for a value of a channel.
func Get[T any](t testing.TB, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(Patience):
		require.FailNow(t, "nothing came")
	}
	return v
}

// Main runs the tests of a package and fails when they leave goroutines behind.
func Main(m *testing.M) {
	code := m.Run()
	if left := leftovers(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines left:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// leftovers are the goroutines that do not end; empty for none.
func leftovers() string {
	var left strings.Builder
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range int(Patience / (10 * time.Millisecond)) {
		if runtime.NumGoroutine() <= 2 { // this one, and what the test binary may have of its own
			return ""
		}
		<-tick.C
	}
	_ = pprof.Lookup("goroutine").WriteTo(&left, 1)
	return left.String()
}
