package guard

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// life is one process of the guard, seen from the program.
//
// What is written to it is bounded by Options.Patience, and so is the wait for its
// answers: one that takes longer is killed. Whoever wanted something of it then knows
// that it sends no signal any more.
type life struct {
	g   *Guard
	cmd *exec.Cmd
	in  *os.File // its standard input; written to with g.mu held
	out *os.File

	ended chan struct{} // closed when the process is no more

	mu    sync.Mutex // guards the fields below
	next  uint64
	waits map[uint64]chan struct{}
}

// newLife starts a process.
func (g *Guard) newLife() (*life, error) {
	path, err := self()
	if err != nil {
		return nil, err
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	cmd := exec.Command(path)
	cmd.Args = []string{guardName, strconv.Itoa(os.Getpid()), g.o.Grace.String(), g.o.TermGrace.String()}
	// Nothing of ours: no variables, and no folder that it would keep in use.
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	alone(cmd)
	err = cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	return &life{g: g, cmd: cmd, in: in, out: out, ended: make(chan struct{}), waits: make(map[uint64]chan struct{})}, nil
}

// serve reads what the process says until it is gone. The error is why it went.
func (l *life) serve() error {
	lines := bufio.NewScanner(l.out)
	for lines.Scan() {
		word, number, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseUint(number, 10, 64)
		switch {
		case err != nil:
		case word == sayDone:
			l.mu.Lock()
			if done := l.waits[n]; done != nil {
				close(done)
				delete(l.waits, n)
			}
			l.mu.Unlock()
		case word == sayOverdue:
			l.g.overdue.Add(1)
			l.g.log.Warn("the guard ended a child whose lease was not kept", "group", n)
		}
	}
	_ = l.cmd.Process.Kill() // it cannot be heard any more
	err := l.cmd.Wait()
	l.mu.Lock()
	clear(l.waits) // none is late any more
	l.mu.Unlock()
	_, _ = l.in.Close(), l.out.Close()
	close(l.ended)
	if err == nil {
		err = errors.New("it has exited")
	}
	return err
}

// write writes a line; l.g.mu is held.
func (l *life) write(line string) error {
	_ = l.in.SetWriteDeadline(time.Now().Add(l.g.o.Patience)) // pipes have them
	_, err := l.in.WriteString(line)
	if err != nil && !errors.Is(err, os.ErrClosed) { // closed by leave: it ends by itself
		l.end()
	}
	return err
}

// send writes a line that is to be answered; l.g.mu is held.
func (l *life) send(line func(n uint64) string) (done <-chan struct{}, err error) {
	answered := make(chan struct{})
	l.mu.Lock()
	l.next++
	n := l.next
	l.waits[n] = answered
	l.mu.Unlock()
	if err := l.write(line(n)); err != nil {
		return nil, err
	}
	l.expect(n, 2)
	return answered, nil
}

// expect kills the process if an answer is late so many times.
func (l *life) expect(n uint64, times int) {
	time.AfterFunc(l.g.o.Patience, func() {
		l.mu.Lock()
		_, waits := l.waits[n]
		l.mu.Unlock()
		switch {
		case !waits:
		case times > 1:
			l.expect(n, times-1)
		default:
			l.end()
		}
	})
}

// ask writes a line and waits for the answer. After an error other than ctx's the
// process is no more.
func (l *life) ask(ctx context.Context, line func(n uint64) string) error {
	l.g.mu.Lock()
	done, err := l.send(line)
	l.g.mu.Unlock()
	if err != nil {
		<-l.ended
		return err
	}
	select {
	case <-done:
		return nil
	case <-l.ended:
		return errEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errEnded = errors.New("guard: it has ended")

// leave lets the process end by the end of its input, and waits for that.
func (l *life) leave(patience time.Duration) {
	l.g.mu.Lock()
	_ = l.in.Close()
	l.g.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.ended:
	case <-timer.C:
		l.end()
		<-l.ended
	}
}

// end kills the process; serve sees it go.
func (l *life) end() { _ = l.cmd.Process.Kill() }
