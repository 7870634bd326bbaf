package conn

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Limits of a child process, used where Command says nothing.
const (
	// DefaultGrace is how long a child may go on after its standard input
	// was closed before it is told to end.
	DefaultGrace = 5 * time.Second
	// DefaultTermGrace is how long it may go on after SIGTERM before it is
	// killed.
	DefaultTermGrace = 2 * time.Second
	// DefaultChildDrain is how long the answers of a child that has ended are
	// still read while another process holds its standard output open.
	DefaultChildDrain = 2 * time.Second
	// DefaultStderrTail is how many bytes of its standard error are kept.
	DefaultStderrTail = 8 << 10
)

// Command describes the child process that Spawn starts.
type Command struct {
	// Path is the program, looked up in PATH if it has no separator.
	Path string
	// Args are its arguments, without the program's own name.
	Args []string
	// Env is the whole environment, as "key=value". Nil inherits ours; an
	// empty non-nil slice gives none.
	Env []string
	// Dir is the working directory; empty is ours.
	Dir string
	// Grace is how long the child may go on after its standard input was
	// closed before it gets SIGTERM. Zero is DefaultGrace, negative none.
	Grace time.Duration
	// TermGrace is how long it may go on after SIGTERM before SIGKILL goes to
	// its whole process group. Zero is DefaultTermGrace, negative none.
	TermGrace time.Duration
	// Drain is how long its standard output is still read after it ended,
	// should another process hold that open. Zero is DefaultChildDrain,
	// negative none.
	Drain time.Duration
	// Stderr gets a copy of everything the child writes to its standard
	// error, from one goroutine. It must not block for long: the child
	// stalls with it. After its first error it is written to no more, while
	// the child's standard error is still read. Nil keeps the tail only.
	Stderr io.Writer
	// StderrTail is how many bytes of the end of its standard error are kept
	// for *PeerGone. Zero is DefaultStderrTail, negative keeps none.
	StderrTail int
	// Guard starts the child, so that somebody ends it if this process cannot
	// any more: it was killed, or is frozen. Nil is nobody; the child then has
	// only the end of its standard input to go by.
	Guard Guard
}

// Guard answers for children when this process is killed or frozen. Package guard of
// the gateway's module has one. Its methods may be called by many goroutines at once.
type Guard interface {
	// Start starts cmd as cmd.Start does, with its errors, and may give it a program
	// that becomes the one that it names. On Unix cmd leads a process group of
	// its own, which is watched over from before the program runs until release is
	// called. That happens once, when the group has been killed, and where the
	// system allows it before the group's number can be another's; what release
	// does, it has done when it returns. After an error nothing is left running, and
	// release is nil. ctx bounds the start only.
	Start(ctx context.Context, cmd *exec.Cmd) (release func(), err error)
}

// begin starts cmd, under the guard if there is one.
func (c *Command) begin(ctx context.Context, cmd *exec.Cmd) (release func(), err error) {
	if c.Guard == nil {
		return func() {}, cmd.Start()
	}
	return c.Guard.Start(ctx, cmd)
}

// withDefaults resolves what zero and negative mean.
func (c Command) withDefaults() Command {
	c.Grace = durationOr(c.Grace, DefaultGrace)
	c.TermGrace = durationOr(c.TermGrace, DefaultTermGrace)
	c.Drain = durationOr(c.Drain, DefaultChildDrain)
	switch {
	case c.StderrTail == 0:
		c.StderrTail = DefaultStderrTail
	case c.StderrTail < 0:
		c.StderrTail = 0
	}
	return c
}

// durationOr is d, or def for zero and zero for a negative d.
func durationOr(d, def time.Duration) time.Duration {
	switch {
	case d == 0:
		return def
	case d < 0:
		return 0
	}
	return d
}

// SpawnError says that a child process could not be started. It unwraps to
// the system's error, so errors.Is finds exec.ErrNotFound, fs.ErrNotExist and
// fs.ErrPermission.
type SpawnError struct {
	// Command and Args are what should have run.
	Command string
	Args    []string
	// Err says why it did not.
	Err error
}

// Error quotes the whole command.
func (e *SpawnError) Error() string {
	line := strings.Join(append([]string{e.Command}, e.Args...), " ")
	return fmt.Sprintf("conn: cannot start %q: %v", line, e.Err)
}

// Unwrap gives the system's error.
func (e *SpawnError) Unwrap() error { return e.Err }
