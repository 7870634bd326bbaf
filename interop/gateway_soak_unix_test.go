//go:build unix

package interop

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// soakFor is how long TestGatewaySoak goes on; "make soak" sets ten minutes.
var soakFor = flag.Duration("soak", 20*time.Second, "how long TestGatewaySoak goes on")

// soak is a gateway in front of loadgen's server, a child process that answers late,
// twice, in disorder and sometimes never, and that is killed now and then.
type soak struct {
	victim
	gateway *gateway.Gateway
	sockets string
}

// victim is a child that is killed.
type victim struct {
	pid    string // the file where the child writes its process id
	killed int    // the process that was killed last
	kills  int
}

// child starts loadgen's server.
func (v *victim) child(program, options string) link.Opener {
	serve := program + ` serve -listen stdio -quiet -delay exp:2ms -blackhole 0.01% -dup 1% -late 0.01% -late-by 3s -reorder 4 -progress 1ms ` + options
	return upstream.Child(conn.Command{Path: "/bin/sh", Args: []string{"-c", `echo $$ >"$0"; exec ` + serve, v.pid}}, conn.Options{})
}

// kill ends the child without warning.
func (v *victim) kill() {
	pid := 0
	text, err := os.ReadFile(v.pid)
	if err != nil {
		return // it has not begun
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil || pid == v.killed {
		return
	}
	if syscall.Kill(pid, syscall.SIGKILL) == nil {
		v.killed = pid
		v.kills++
	}
}

func loadgen(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "loadgen")
	build := exec.Command("go", "build", "-o", path, "./cmd/loadgen")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func newSoak(t *testing.T, program string) *soak {
	t.Helper()
	s := &soak{sockets: filepath.Join(t.TempDir(), "gateway.sock"), victim: victim{pid: filepath.Join(t.TempDir(), "pid")}}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
		Name: "load", Opener: s.child(program, ""), Isolation: gateway.Shared, Plain: true, Timeout: 2 * time.Second, BackoffMax: time.Second, BackoffStable: time.Millisecond,
	}}})
	require.NoError(t, err)
	s.gateway = g
	l, err := net.Listen("unix", s.sockets)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- downstream.Listen(ctx, g, l, downstream.Options{}) }()
	t.Cleanup(func() { stop(); <-over; require.NoError(t, g.Close()) })
	return s
}

// client is one client that comes and goes: some calls, each with its mark, a cancel,
// and then it leaves, with calls in flight as often as not. wrong counts answers that
// were another's.
func (s *soak) client(ctx context.Context, n int, wrong *atomic.Int64) error {
	c, err := conn.Dial(ctx, "unix", s.sockets, conn.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	var calls sync.WaitGroup
	for i := range 1 + rand.IntN(50) {
		calls.Go(func() {
			mark := fmt.Sprintf(`{"client":%d,"call":%d}`, n, i)
			mine, cancel := context.WithCancel(ctx)
			if i%7 == 0 {
				time.AfterFunc(time.Duration(rand.IntN(5))*time.Millisecond, cancel)
			}
			defer cancel()
			got, err := c.Call(mine, "echo", []byte(mark), conn.CallOptions{})
			if err == nil && string(got) != mark {
				wrong.Add(1)
			}
		})
	}
	if n%2 == 0 {
		return nil // calls in flight end with the connection
	}
	calls.Wait()
	return nil
}

// Ten minutes, or what -soak says, of loadgen and of clients that come and go, over
// sockets to a plain server, and over HTTP of both eras and WebSocket to an MCP server,
// while the servers misbehave and are killed: no answer reaches another's call, loadgen's
// accounts add up, every call ends, and what it took is given back.
func TestGatewaySoak(t *testing.T) {
	program := loadgen(t, t.TempDir())
	s, m := newSoak(t, program), newSoakMCP(t, program)
	base, goroutines := heap(), runtime.NumGoroutine()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	defer time.AfterFunc(*soakFor, stop).Stop()
	report := filepath.Join(t.TempDir(), "run.json")
	load := exec.CommandContext(t.Context(), program, "-target", "unix:"+s.sockets, "-conns", "20", "-rate", "2k/s", "-c", "2000",
		"-d", soakFor.String(), "-timeout", "5s", "-profile", "jsonrpc", "-want-progress", "-quiet", "-o", report)
	out := make(chan []byte, 1)
	go func() { text, _ := load.CombinedOutput(); out <- text }()

	var clients sync.WaitGroup
	var visits, wrong atomic.Int64
	for range 10 {
		clients.Go(func() {
			for ctx.Err() == nil {
				if err := s.client(ctx, int(visits.Add(1)), &wrong); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	var visitsMCP atomic.Int64
	for range 6 {
		clients.Go(func() {
			for ctx.Err() == nil {
				if err := m.visit(ctx, int(visitsMCP.Add(1))); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Go(func() {
		for {
			select {
			case <-time.After(time.Second + time.Duration(rand.IntN(4000))*time.Millisecond):
				s.kill()
				m.kill()
			case <-ctx.Done():
				return
			}
		}
	})
	half := time.NewTimer(*soakFor / 2)
	defer half.Stop()
	<-half.C
	middle := heap()
	clients.Wait()
	text := <-out
	require.Zero(t, wrong.Load(), "answers that were another's")
	requireOver(t, s.gateway)
	st := s.gateway.Stats()
	t.Logf("%d visits, %d kills, heap %d KiB at first, %d KiB at half time and %d KiB now; %+v", visits.Load(), s.kills, base>>10, middle>>10, heap()>>10, st)
	require.Positive(t, s.kills)
	m.judge(t)
	require.Zero(t, limit.Partial.Used(), "bytes of frames that are not whole")
	// What the tables and queues grew to at the peak, some thousands of calls, stays theirs.
	require.Eventually(t, func() bool { return heap() < base+(8<<20) }, time.Minute, 100*time.Millisecond, "memory returns to base: %d bytes were live, %d are", base, heap())
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+2*childGoroutines }, time.Minute, 100*time.Millisecond, "%d goroutines were there, %d are", goroutines, runtime.NumGoroutine())

	written, err := os.ReadFile(report)
	require.NoError(t, err, "%s", text)
	var run struct {
		Accounting map[string]json.RawMessage `json:"accounting"`
	}
	require.NoError(t, json.Unmarshal(written, &run))
	t.Logf("loadgen: exit %d; %s", load.ProcessState.ExitCode(), text)
	require.Zero(t, load.ProcessState.ExitCode(), "%s", text) // 1: it does not add up
}

// requireOver waits until nothing of a gateway is in flight and all clients have gone.
func requireOver(t *testing.T, g *gateway.Gateway) {
	t.Helper()
	require.Eventually(t, func() bool {
		st := g.Stats()
		return st.InFlight+st.Waiting+st.Admitted+st.Pending+st.Sessions == 0
	}, time.Minute, 10*time.Millisecond, "%+v", g.Stats())
	st := g.Stats()
	require.Equal(t, st.Requests, st.Answered+st.Failed+st.Expired+st.Cancelled+st.Lost+st.Refused, "every call ends once")
	require.Zero(t, st.Panics)
}

// childGoroutines read and write for one child, and wait for it.
const childGoroutines = 8

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
