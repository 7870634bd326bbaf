package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults of Options.
const (
	// DefaultGrace is for children that end by themselves when their input does.
	DefaultGrace = 500 * time.Millisecond
	// DefaultTermGrace is for those that end at SIGTERM.
	DefaultTermGrace = 1500 * time.Millisecond
	// DefaultPatience is more than the guard ever needs to answer.
	DefaultPatience = 5 * time.Second
)

// Options of a Guard. Zero is the default that the field names.
type Options struct {
	// Grace is how long after the end of the program its children may go on before
	// they get SIGTERM. Zero is DefaultGrace, negative none.
	Grace time.Duration
	// TermGrace is how long they may go on after SIGTERM, before SIGKILL. Zero is
	// DefaultTermGrace, negative none.
	TermGrace time.Duration
	// Patience is how long the guard may take to read and to answer before it is killed
	// and replaced: twice that, since it may be we who were away. Zero or negative
	// is DefaultPatience.
	Patience time.Duration
	// Log gets when the guard starts, ends, and ends a child; nil drops it.
	Log *slog.Logger
}

// Errors to branch on with errors.Is.
var (
	// ErrNoHook: the program's main does not call Hook, so it cannot be its own guard.
	ErrNoHook = errors.New("guard: main does not begin with guard.Hook()")
	// ErrClosed: the guard was closed.
	ErrClosed = errors.New("guard: closed")
	// ErrLease: the lease of the child was over before it could run.
	ErrLease = errors.New("guard: the lease is over")
)

// Names that the processes go by, in argv[0]: nothing of the command line of a program
// that uses this package can be mistaken for them, and who kills the program by its
// name does not meet its guard.
const (
	guardName = "correlator-guard"
	startName = "correlator-start"
)

var hooked atomic.Bool

// Hook is the first line of main in a program that uses a Guard. In the processes that
// a Guard starts of the program it does not return; in all others it does nothing.
func Hook() {
	hooked.Store(true)
	if len(os.Args) == 0 {
		return
	}
	switch os.Args[0] {
	case guardName:
		os.Exit(beGuard(os.Args[1:]))
	case startName:
		os.Exit(beChild(os.Args[1:]))
	}
}

// Stats counts what has happened since New.
type Stats struct {
	// Watched is how many children are watched over now.
	Watched int
	// Restarts is how often the guard had ended and was started again.
	Restarts uint64
	// Overdue is how many children it ended because their lease was not kept.
	Overdue uint64
}

// Guard has one process that watches over the children of this one. It is a conn.Guard.
// All methods are safe for concurrent use.
type Guard struct {
	o   Options
	log *slog.Logger

	overdue atomic.Uint64
	stop    chan struct{} // closed by Close
	over    chan struct{} // closed when run has returned; nil until it is called

	mu       sync.Mutex // guards the fields below, and the order of what is written
	groups   map[int]*Lease
	life     *life         // nil while there is none
	change   chan struct{} // closed and replaced when life or failed is set
	failed   error         // why the last one could not be started
	restarts uint64
	closed   bool
}

// New makes a guard. Its process starts with the first child.
func New(o Options) *Guard {
	o.Grace = max(cmp.Or(o.Grace, DefaultGrace), 0)
	o.TermGrace = max(cmp.Or(o.TermGrace, DefaultTermGrace), 0)
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	g := &Guard{o: o, log: o.Log, stop: make(chan struct{}), groups: make(map[int]*Lease), change: make(chan struct{})}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	return g
}

// Stats counts.
func (g *Guard) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Stats{len(g.groups), g.restarts, g.overdue.Load()}
}

// Close ends the guard's process, and what it still watches over, and returns when it
// is gone. Children are to be closed first.
func (g *Guard) Close() error {
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	l, over := g.life, g.over
	g.mu.Unlock()
	if first {
		close(g.stop)
	}
	if over == nil {
		return nil
	}
	if l != nil {
		l.leave(g.o.Grace + g.o.TermGrace + afterKill + g.o.Patience)
	}
	<-over
	return nil
}

// run keeps a process going until Close.
func (g *Guard) run() {
	defer close(g.over)
	pause := firstPause
	for {
		begun := time.Now()
		l, err := g.begin()
		failed := err
		if err == nil {
			err = l.serve()
		}
		g.mu.Lock()
		g.life, g.failed = nil, failed
		again := !g.closed
		if again {
			g.restarts++
		}
		g.changed()
		g.mu.Unlock()
		if !again {
			return
		}
		g.log.Error("the guard of the children has ended, another one is started", "error", err)
		if time.Since(begun) > longPause {
			pause = firstPause
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-g.stop:
			timer.Stop()
			return
		}
		pause = min(2*pause, longPause)
	}
}

// Pauses between two starts of the process: children are without a guard meanwhile.
const (
	firstPause = time.Millisecond
	longPause  = 5 * time.Second
)

// changed wakes who waits for a life; g.mu is held.
func (g *Guard) changed() {
	close(g.change)
	g.change = make(chan struct{})
}

// begin starts the process and tells it all that is known.
func (g *Guard) begin() (*life, error) {
	l, err := g.newLife()
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed { // Close has not seen this one
		l.end()
		_ = l.serve()
		return nil, ErrClosed
	}
	for pgid, lease := range g.groups {
		if err = l.write(watchLine(0, pgid, lease)); err != nil {
			break // it is on its way out, which serve sees
		}
	}
	g.life, g.failed = l, nil
	g.changed()
	g.log.Info("a guard watches over the children", "pid", l.cmd.Process.Pid)
	return l, nil
}

// current gives the process there is, and waits for one that is about to be.
func (g *Guard) current(ctx context.Context) (*life, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for waited := false; ; waited = true {
		switch {
		case g.closed:
			return nil, ErrClosed
		case g.life != nil:
			return g.life, nil
		case g.failed != nil && waited:
			return nil, fmt.Errorf("guard: it cannot be started: %w", g.failed)
		case g.over == nil:
			g.over = make(chan struct{})
			go g.run()
		}
		change := g.change
		g.mu.Unlock()
		var err error
		select {
		case <-change:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		g.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
}

// watch returns when the guard knows the group.
func (g *Guard) watch(ctx context.Context, pgid int, lease *Lease) error {
	g.mu.Lock()
	g.groups[pgid] = lease // a process that starts meanwhile is told as well
	g.mu.Unlock()
	lease.attach(g, pgid)
	for {
		l, err := g.current(ctx)
		if err != nil {
			return err
		}
		if err := l.ask(ctx, func(n uint64) string { return watchLine(n, pgid, lease) }); err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// release returns when the guard will not send the group a signal any more.
func (g *Guard) release(pgid int, lease *Lease) {
	lease.detach(pgid)
	g.mu.Lock()
	delete(g.groups, pgid)
	l := g.life // one that starts later is not told of the group
	g.mu.Unlock()
	if l != nil {
		_ = l.ask(context.Background(), func(n uint64) string { return releaseLine(n, pgid) }) // an error: it is gone
	}
}

// keep tells until when a group may live.
func (g *Guard) keep(pgid int, lease *Lease) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, there := g.groups[pgid]; there && g.life != nil {
		_, _ = g.life.send(func(n uint64) string { return watchLine(n, pgid, lease) })
	}
}

// Start implements conn.Guard. Where ctx has a lease (see WithLease) the child lives for
// as long as that is kept. Elsewhere than on Unix it is cmd.Start.
func (g *Guard) Start(ctx context.Context, cmd *exec.Cmd) (release func(), err error) {
	lease := leaseOf(ctx)
	switch {
	case cmd.Err != nil: // the program was not found
		return nil, cmd.Err
	case lease.Over():
		return nil, ErrLease
	case !supported:
		return func() {}, cmd.Start()
	case !hooked.Load():
		return nil, ErrNoHook
	}
	gate, err := behindGate(cmd)
	if err != nil {
		return nil, err
	}
	defer gate.close()
	pgid := cmd.Process.Pid
	if err = g.watch(ctx, pgid, lease); err == nil && lease.Over() {
		// We were away for long. Whatever becomes of us from here on, the guard knows
		// until when the child may live.
		err = ErrLease
	}
	if err == nil {
		err = gate.open()
	}
	if err != nil {
		gate.close() // so that it ends by itself
		_ = cmd.Process.Kill()
		g.release(pgid, lease)
		_ = cmd.Wait()
		return nil, err
	}
	var once sync.Once
	return func() { once.Do(func() { g.release(pgid, lease) }) }, nil
}

// self is the program that runs, even if its file has been replaced meanwhile.
func self() (string, error) {
	if runtime.GOOS == "linux" {
		const path = "/proc/self/exe"
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return os.Executable()
}
