//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
)

// owner is a gateway with a stubborn server, as a process.
type owner struct {
	*gatewayProcess
	name, address string
	guard         int // the process that watches over its children
	dir           string
	alive         chan error // the server and its helper are gone, once they were there
}

// own starts a gateway of a cluster, or of none where url is "". What its server leaves
// behind is in dir.
func own(t *testing.T, dir, name, url string, lease time.Duration) *owner {
	t.Helper()
	o := &owner{name: name, address: filepath.Join(dir, name+".sock"), dir: dir, alive: make(chan error, 1)}
	fifo := filepath.Join(dir, name)
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	go func() {
		f, err := os.Open(fifo) // waits for who opens it to write
		if err == nil {
			_, err = io.Copy(io.Discard, f)
			_ = f.Close()
		}
		o.alive <- err
	}()
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(dir, name+".yaml")
	text := fmt.Sprintf("listen: [\"unix:%s\"]\nupstreams:\n  tools: {command: [%q], protocol: jsonrpc, isolation: shared}\n", o.address, self)
	if url != "" {
		text += fmt.Sprintf("cluster: {url: %q, lease: %v, node: %s}\n", url, lease, name)
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	o.gatewayProcess = start(t, "run", file)
	o.Env = append(o.Env, stubbornDir+"="+dir, stubbornName+"="+name)
	require.NoError(t, o.Start())
	t.Cleanup(func() {
		_ = o.Process.Kill()
		_ = o.Wait()
		o.gone() // its guard sees to it
	})
	o.gatewayProcess.address()
	return o
}

// gone returns when nothing of the server is left, if it was ever there.
func (o *owner) gone() {
	o.t.Helper()
	w, err := os.OpenFile(filepath.Join(o.dir, o.name), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err == nil { // who waits for the first one to write waits no longer
		_ = w.Close()
	}
	err = <-o.alive
	o.alive <- err
	require.NoError(o.t, err)
}

// watched reads the log up to the line that names the guard.
func (o *owner) watched() {
	o.t.Helper()
	_, number, found := strings.Cut(o.line("a guard watches over the children"), "pid=")
	require.True(o.t, found)
	var err error
	o.guard, err = strconv.Atoi(number)
	require.NoError(o.t, err)
}

// who asks over a new connection whose server it is.
func (o *owner) who() (string, error) {
	c, err := conn.Dial(context.Background(), "unix", o.address, conn.Options{})
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	got, err := c.Call(context.Background(), "who", nil, conn.CallOptions{Timeout: 2 * time.Minute})
	return string(got), err
}

func (o *owner) isServedBy(name string) {
	o.t.Helper()
	got, err := o.who()
	require.NoError(o.t, err)
	require.Equal(o.t, `"`+name+`"`, got)
}

// ended returns when a process that nobody here waits for is gone; that the one who
// should has not yet is nothing to us.
func ended(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		return err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
	}, time.Minute, 10*time.Millisecond)
}

// leased says whether anybody has a lease.
func leased(t *testing.T, url string) bool {
	t.Helper()
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	kv, err := js.KeyValue(t.Context(), "correlator-gateway-leases")
	require.NoError(t, err)
	keys, err := kv.Keys(t.Context())
	if !errors.Is(err, jetstream.ErrNoKeysFound) {
		require.NoError(t, err)
	}
	return len(keys) > 0
}

// history is what the servers wrote down: who started, and whether another one was there.
func history(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "history"))
	require.NoError(t, err)
	return string(text)
}

// kill -9 of the gateway takes its server along, which minds neither the end of its
// input nor SIGTERM, and what that has started; and then the guard goes, too.
func TestKilledGatewayLeavesNothing(t *testing.T) {
	t.Parallel()
	o := own(t, t.TempDir(), "a", "", 0)
	o.isServedBy("a")
	o.watched()
	o.rest()
	require.NoError(t, o.Process.Kill())
	o.gone()
	ended(t, o.guard)
}

// The guard is killed: another one takes its place, and knows the child.
func TestKilledGuardIsReplaced(t *testing.T) {
	t.Parallel()
	o := own(t, t.TempDir(), "a", "", 0)
	o.isServedBy("a")
	o.watched()
	first := o.guard
	require.NoError(t, syscall.Kill(first, syscall.SIGKILL))
	require.Contains(t, o.line("the guard of the children has ended, another one is started"), "signal: killed")
	o.watched()
	require.NotEqual(t, first, o.guard)
	o.rest()
	o.isServedBy("a")
	require.NoError(t, o.Process.Kill())
	o.gone()
	ended(t, o.guard)
}

// An end that was asked for leaves neither child nor guard, and the guard has no part in
// it: signals that are meant for all processes of a service do not end it early.
func TestOrderlyEndLeavesNoGuard(t *testing.T) {
	t.Parallel()
	o := own(t, t.TempDir(), "a", "", 0)
	o.isServedBy("a")
	o.watched()
	require.NoError(t, syscall.Kill(o.guard, syscall.SIGTERM))
	require.NoError(t, o.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(o.lines)
	require.NoError(t, err)
	require.NotContains(t, string(rest), "guard")
	require.NoError(t, o.Wait())
	require.ErrorIs(t, syscall.Kill(o.guard, 0), syscall.ESRCH)
	o.gone()
}

// Who does not want a guard has none.
func TestNoGuard(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	p := start(t, "-guard=false", "-plain", "-listen", "unix:"+socket, "--", self)
	require.NoError(t, p.Start())
	defer func() { _ = p.Process.Kill() }()
	p.address()
	c, err := conn.Dial(context.Background(), "unix", socket, conn.Options{})
	require.NoError(t, err)
	_, err = c.Call(context.Background(), "ping", nil, conn.CallOptions{Timeout: time.Minute})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(p.lines)
	require.NoError(t, err)
	require.NoError(t, p.Wait())
	require.NotContains(t, string(rest), "guard")
}

// The owner of a server is killed, or frozen. Its server and what that has started are
// gone before another node may start one: there are never two. An owner that comes back
// has nothing to say any more, and its clients are served by the new one.
func TestOwnerIsReplacedByOne(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "frozen": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := embedded.Start(embedded.Options{Port: -1})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, server.Close()) })
			dir := t.TempDir()
			const lease = 12 * time.Second // of which the guard may be late by a fifth
			a := own(t, dir, "a", server.URL(), lease)
			a.isServedBy("a")
			a.watched()
			b := own(t, dir, "b", server.URL(), lease)
			b.rest()
			b.isServedBy("a")
			require.NoError(t, a.Process.Signal(signal))
			a.gone()
			require.True(t, leased(t, server.URL()), "the lease was over before they were gone")
			// The first calls fail, since they are sent to one of whom it is not known
			// yet that nothing will come of it.
			var got string
			for err = error(io.EOF); err != nil; got, err = b.who() {
				require.NoError(t, t.Context().Err())
			}
			require.Equal(t, `"b"`, got)
			require.Equal(t, "a started\nb started\n", history(t, dir))
			if signal == syscall.SIGKILL {
				ended(t, a.guard)
				return
			}
			require.NoError(t, a.Process.Signal(syscall.SIGCONT))
			a.line("the guard ended a child whose lease was not kept")
			a.rest()
			for err = error(io.EOF); err != nil; got, err = a.who() {
				require.NoError(t, t.Context().Err())
			}
			require.Equal(t, `"b"`, got)
			require.Equal(t, "a started\nb started\n", history(t, dir))
		})
	}
}
