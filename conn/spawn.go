package conn

import (
	"context"

	"github.com/correlator-go/correlator/engine"
)

// Spawn starts a child process and speaks with it over its standard input and
// output. What it writes to its standard error is always read, and the end of
// it kept for *PeerGone.
//
// ctx bounds the start only: what ends the child is Close. Close shuts its
// standard input, gives it Command.Grace to answer and exit, then sends SIGTERM
// and, Command.TermGrace later, SIGKILL to its process group; answers that come
// meanwhile count. The call of Close that ends the connection returns when the
// process is reaped, and Done is closed then; a program that leaves earlier
// leaves a child that ignores the end of its input behind, unless Command.Guard
// sees to it.
//
// When the child dies by itself, what it still wrote is read for at most
// Command.Drain and every other pending call fails with *PeerGone. A child that
// closes its standard output but lives on has ended too: calls fail at once, and
// the process is seen off in the same way.
//
// On Unix the child leads a process group of its own, and what is left of that
// group is killed once the child is dead; a helper that shall outlive it must
// leave the group (setsid). Elsewhere there is no SIGTERM and no group: the
// process alone is killed after Grace, and a process that it left behind with
// its standard output open can keep the connection from ending.
//
// A failed start is a *SpawnError, a refused option an error of New's; nothing
// is left running then.
func Spawn(ctx context.Context, command Command, o Options) (*Conn, error) {
	clock := o.Clock
	if clock == nil {
		clock = engine.SystemClock()
	}
	c, err := startChild(ctx, command, clock)
	if err != nil {
		return nil, err
	}
	conn, err := New(c, o)
	if err != nil {
		c.readOver()
		c.kill()
		_ = c.Close()
		return nil, err
	}
	return conn, nil
}
