//go:build unix

package conn_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// noChildren holds when every child was reaped: then there is none to wait for.
func noChildren(t *testing.T) {
	t.Helper()
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	require.ErrorIs(t, err, syscall.ECHILD, "child %d was left", pid)
}

func TestChildKilledBySignal(t *testing.T) {
	nothingLeft(t)
	c := spawn(t, part("suicide"), conn.Options{})
	_, err := c.Call(t.Context(), "die", nil, conn.CallOptions{})
	gone, ok := errors.AsType[*conn.PeerGone](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "SIGKILL", gone.Signal)
	require.Equal(t, -1, gone.ExitCode)
	sent, known := conn.Sent(err)
	require.True(t, sent && known)
}

// A call without a timeout fails at once when the child closes its output, and
// the child, which lives on, is told to end after the grace.
func TestL08OutputEndsProcessLives(t *testing.T) {
	nothingLeft(t)
	address, next := lives(t)
	clock := engine.NewManualClock()
	command := part("mute", address)
	command.Grace = 3 * time.Second
	c := spawn(t, command, conn.Options{Clock: clock})
	child := next()
	_, err := c.Call(t.Context(), "hush", nil, conn.CallOptions{Timeout: engine.NoTimeout})
	require.ErrorIs(t, err, conn.ErrClosed)
	gone, ok := errors.AsType[*conn.PeerGone](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, -1, gone.ExitCode)
	require.Empty(t, gone.Signal)
	require.Contains(t, gone.Error(), "lives on")

	require.Equal(t, "input ended", child.next())
	clock.Advance(3 * time.Second)
	require.Equal(t, "told to end", child.next())
	require.Empty(t, child.next(), "it lives")
	require.NoError(t, c.Close())
}

// A child that closes its input is as good as gone, and calls say so.
func TestChildStopsReading(t *testing.T) {
	nothingLeft(t)
	address, next := lives(t)
	command := part("deaf", address)
	command.Grace = -1
	c := spawn(t, command, conn.Options{CloseTimeout: time.Millisecond})
	next()
	_, err := c.Call(t.Context(), "m", nil, conn.CallOptions{Timeout: engine.NoTimeout})
	gone, ok := errors.AsType[*conn.PeerGone](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, gone, syscall.EPIPE)
}

// Close goes from the end of input over SIGTERM to SIGKILL, each after its
// grace, and takes the whole process group along.
func TestCloseKillsTheGroup(t *testing.T) {
	nothingLeft(t)
	address, next := lives(t)
	clock := engine.NewManualClock()
	c := spawn(t, part("stubborn", address), conn.Options{Clock: clock})
	_, err := c.Call(t.Context(), "echo", []byte(`1`), conn.CallOptions{})
	require.NoError(t, err)
	child, bystander := next(), next()
	if child.name == "bystander" {
		child, bystander = bystander, child
	}
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	require.Equal(t, "input ended", child.next())
	clock.Advance(conn.DefaultGrace)
	require.Equal(t, "told to end", child.next())
	clock.Advance(conn.DefaultTermGrace)
	require.Empty(t, child.next(), "it lives")
	require.Empty(t, bystander.next(), "what it started lives")
	require.NoError(t, <-closed)
}

// A child that died while another process holds its output open is over when
// the drain is; its answers until then count.
func TestDrainIsBounded(t *testing.T) {
	nothingLeft(t)
	address, next := lives(t)
	clock := armedClock{engine.NewManualClock(), make(chan time.Duration, 100)}
	command := part("parent", address)
	command.Drain = 1234 * time.Millisecond
	c := spawn(t, command, conn.Options{Clock: clock})
	bystander := next()
	got, err := c.Call(t.Context(), "last", []byte(`2`), conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, `2`, string(got))

	failed := make(chan error, 1)
	_, err = c.Start(t.Context(), "never", nil, conn.CallOptions{}, func(o conn.Outcome) { failed <- o.Err })
	require.NoError(t, err)
	for d := range clock.armed {
		if d == command.Drain {
			break
		}
	}
	select {
	case err := <-failed:
		t.Fatalf("failed before the drain was over: %v", err)
	default:
	}
	clock.Advance(command.Drain)
	gone, ok := errors.AsType[*conn.PeerGone](<-failed)
	require.True(t, ok, "%v", err)
	require.Equal(t, 5, gone.ExitCode)
	require.Empty(t, bystander.next(), "it lives")
}

// armedClock tells which timers are set.
type armedClock struct {
	*engine.ManualClock
	armed chan time.Duration
}

func (c armedClock) AfterFunc(d time.Duration, f func()) engine.Timer {
	defer func() { c.armed <- d }()
	return c.ManualClock.AfterFunc(d, f)
}
