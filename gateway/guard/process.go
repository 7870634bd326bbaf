package guard

import (
	"bufio"
	"io"
	"os"
	"time"
)

const (
	// look is the pause between two looks whether a group is gone.
	look = 10 * time.Millisecond
	// afterKill is how long what was killed may take to be gone: in a container
	// whose first process waits for nobody it never is.
	afterKill = time.Second
)

// beGuard is the guard's process. The arguments are whom it is of, which is for people
// who look at it, and the pauses at the end.
func beGuard(args []string) (code int) {
	if len(args) != 3 {
		return 2
	}
	grace, err := time.ParseDuration(args[1])
	if err != nil {
		return 2
	}
	termGrace, err := time.ParseDuration(args[2])
	if err != nil {
		return 2
	}
	settleDown()
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	watchOver(newRoster(grace, termGrace), lines, os.Stdout)
	return 0
}

// watchOver returns when the program and its children are gone. Nobody need read what
// is said.
func watchOver(r *roster, lines <-chan string, out io.Writer) {
	var last time.Duration // when the last signal was sent
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		at := now()
		orders, wait := r.due(at)
		for _, o := range orders {
			signalGroup(o.pgid, o.kill)
			last = at
			if o.overdue {
				_, _ = io.WriteString(out, overdueLine(o.pgid))
			}
		}
		if r.orphaned {
			r.forget(gone)
			if len(r.groups) == 0 || wait == never && at > last+afterKill {
				return
			}
			wait = min(wait, look)
		}
		timer.Reset(min(wait, time.Hour))
		select {
		case line, ok := <-lines:
			if !ok {
				r.orphan(now())
				lines = nil
				continue
			}
			if answer := r.hear(line); answer != "" {
				_, _ = io.WriteString(out, answer)
			}
		case <-timer.C:
		}
	}
}
