package guard

import (
	"context"
	"os/exec"
)

// Pid is that of the guard's process, once there is one.
func (g *Guard) Pid(ctx context.Context) (int, error) {
	l, err := g.current(ctx)
	if err != nil {
		return 0, err
	}
	return l.cmd.Process.Pid, nil
}

// AtGate starts cmd and leaves it at its gate.
func AtGate(cmd *exec.Cmd) error {
	_, err := behindGate(cmd)
	return err
}

// Unhook makes as if main did not call Hook, until the function is called.
func Unhook() (hook func()) {
	hooked.Store(false)
	return func() { hooked.Store(true) }
}
