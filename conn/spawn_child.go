package conn

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/correlator-go/correlator/engine"
)

// exitPatience is how long the end of a child's output waits for its exit code
// and the last of its standard error. It is real time on every clock, since
// a process dies on no clock of ours.
const exitPatience = time.Second

// child is a process seen as a stream. Its life, each edge taken once:
//
//	running ──CloseWrite, end of stdout──▶ ending ──grace──▶ SIGTERM ──term grace──▶ SIGKILL
//	   └───────────────────exit───────────────┴─────────────────┴─────────────────────┘
//	                                          ▼
//	                      dead ──end of stdout, or drain──▶ swept ──▶ reaped
//
// Swept means that SIGKILL went to what was left of the process group.
//
// I8: no signal is sent once the process is reaped, since its number may then
// be another's; nor by Command.Guard, which is released before. Where the system cannot show a dead process before reaping it
// (all but Linux) sweeping comes after, within the drain.
type child struct {
	path   string
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	tail   *stderrTail
	drain  time.Duration
	clock  engine.Clock
	// release tells Command.Guard that nothing is left. See I8 for when.
	release func()

	silent    chan struct{} // closed when reading stdout is over
	silentOne sync.Once
	dry       chan struct{} // closed when stderr has given its last byte
	exited    chan struct{} // closed when cmd.ProcessState can be read
	reaped    chan struct{} // closed when nothing is left

	mu       sync.Mutex // protects the fields below
	ending   bool
	dead     bool
	timer    engine.Timer
	patience []time.Duration // the waits before terminate and before kill
}

// startChild starts the process; ctx counts only until it runs.
func startChild(ctx context.Context, command Command, clock engine.Clock) (*child, error) {
	failed := func(err error) (*child, error) {
		return nil, &SpawnError{Command: command.Path, Args: command.Args, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return failed(context.Cause(ctx))
	}
	command = command.withDefaults()
	var ours, theirs [3]*os.File
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:i], theirs[:i])
			return failed(err)
		}
		ours[i], theirs[i] = r, w
		if i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	cmd := exec.Command(command.Path, command.Args...)
	cmd.Dir, cmd.Env = command.Dir, command.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	groupAlone(cmd)
	release, err := command.begin(ctx, cmd)
	closeAll(theirs[:])
	if err != nil {
		closeAll(ours[:])
		return failed(err)
	}
	c := &child{
		path:     command.Path,
		cmd:      cmd,
		stdin:    ours[0],
		stdout:   ours[1],
		stderr:   ours[2],
		tail:     newStderrTail(command.StderrTail),
		drain:    command.Drain,
		clock:    clock,
		release:  release,
		silent:   make(chan struct{}),
		dry:      make(chan struct{}),
		exited:   make(chan struct{}),
		reaped:   make(chan struct{}),
		patience: []time.Duration{command.Grace, command.TermGrace},
	}
	go func() {
		defer close(c.dry)
		c.tail.drain(c.stderr, command.Stderr)
	}()
	go c.supervise()
	return c, nil
}

func closeAll(groups ...[]*os.File) {
	for _, files := range groups {
		for _, f := range files {
			_ = f.Close()
		}
	}
}

// Read reads the child's standard output. Its end begins the child's end, even
// if the process lives on: no answer can come any more.
func (c *child) Read(p []byte) (int, error) {
	n, err := c.stdout.Read(p)
	if err == nil {
		return n, nil
	}
	c.readOver()
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF // we closed it, when the drain was over
	}
	return n, err
}

// Write writes to the child's standard input.
func (c *child) Write(p []byte) (int, error) { return c.stdin.Write(p) }

// CloseWrite closes the child's standard input, which tells it to end, and
// starts the clock: grace, SIGTERM, SIGKILL. Reading goes on.
func (c *child) CloseWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return nil
	}
	c.ending = true
	if !c.dead {
		c.timer = c.clock.AfterFunc(c.patience[0], c.terminate)
	}
	return c.stdin.Close()
}

// Close ends the child and returns when it is reaped: at once if it obeys the
// end of its input, else after grace, term grace and drain. Who still reads
// meanwhile gets its last answers.
func (c *child) Close() error {
	_ = c.CloseWrite()
	<-c.reaped
	return nil
}

func (c *child) terminate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return
	}
	signalGroup(c.cmd.Process, false)
	c.timer = c.clock.AfterFunc(c.patience[1], c.kill)
}

func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		signalGroup(c.cmd.Process, true)
	}
}

// readOver notes that nobody will read stdout again.
func (c *child) readOver() {
	c.silentOne.Do(func() { close(c.silent) })
	_ = c.CloseWrite()
}

// supervise sees the process to its end, from dead to reaped.
func (c *child) supervise() {
	defer close(c.reaped)
	held := awaitExit(c.cmd.Process.Pid)
	if !held {
		c.reap()
	}
	c.mu.Lock()
	c.dead = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	_ = c.CloseWrite()

	over := make(chan struct{})
	timer := c.clock.AfterFunc(c.drain, func() { close(over) })
	select {
	case <-c.silent:
	case <-over:
	}
	timer.Stop()
	signalGroup(c.cmd.Process, true)
	c.release()
	if held {
		c.reap()
	}
	_ = c.stdout.Close()
	within(c.dry)
	_ = c.stderr.Close()
}

// reap takes the exit code. Its error says nothing that the state does not.
func (c *child) reap() {
	_ = c.cmd.Wait()
	close(c.exited)
}

// explain makes the *PeerGone that calls fail with.
func (c *child) explain(err error) error {
	c.readOver()
	gone := &PeerGone{Command: c.path, ExitCode: -1, Err: err}
	if within(c.exited) {
		gone.ExitCode, gone.Signal = exitState(c.cmd.ProcessState)
		within(c.dry)
	}
	gone.StderrTail = c.tail.bytes()
	return gone
}

// within reports whether done is closed within exitPatience.
func within(done <-chan struct{}) bool {
	timer := time.NewTimer(exitPatience)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

var (
	_ io.ReadWriteCloser = (*child)(nil)
	_ explainer          = (*child)(nil)
	_ halfCloser         = (*child)(nil)
)
