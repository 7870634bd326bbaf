//go:build unix

package conn_test

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// watcher is a guard that writes down what it is asked, and how the child was then.
type watcher struct {
	refuse   error
	started  *exec.Cmd
	released chan error // what a signal to the process says at the release
}

func (w *watcher) Start(_ context.Context, cmd *exec.Cmd) (func(), error) {
	w.started = cmd
	if w.refuse != nil {
		return nil, w.refuse
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() { w.released <- syscall.Kill(cmd.Process.Pid, 0) }, nil
}

// The guard starts the child as the leader of a group, and is released once, while the
// child's number is still its own where the system allows that.
func TestGuardIsReleasedBeforeTheNumberIs(t *testing.T) {
	nothingLeft(t)
	w := &watcher{released: make(chan error, 2)}
	command := part("suicide")
	command.Guard = w
	c := spawn(t, command, conn.Options{})
	require.True(t, w.started.SysProcAttr.Setpgid)
	require.Empty(t, w.released)
	_, err := c.Call(t.Context(), "die", nil, conn.CallOptions{})
	require.Error(t, err)
	require.NoError(t, c.Close())
	<-c.Done()
	require.Len(t, w.released, 1)
	if err := <-w.released; runtime.GOOS == "linux" {
		require.NoError(t, err, "it was reaped before")
	}
}

// What the guard says of the start is what the caller hears.
func TestGuardRefuses(t *testing.T) {
	nothingLeft(t)
	w := &watcher{refuse: errors.New("no room")}
	command := part("suicide")
	command.Guard = w
	_, err := conn.Spawn(t.Context(), command, conn.Options{})
	require.ErrorIs(t, err, w.refuse)
	_, ok := errors.AsType[*conn.SpawnError](err)
	require.True(t, ok)
}
