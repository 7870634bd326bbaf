package guard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What is said. A line of the program is
//
//	watch N PGID [TERM KILL]    end the group at these times, in nanoseconds; without, at the end of the input
//	release N PGID              it is not there any more
//
// and one of the guard
//
//	done N                      to a line whose N is not 0
//	overdue PGID                its TERM has come, and it was sent SIGTERM
//
// Lines are shorter than what a pipe takes in one piece, so a program that is killed
// leaves no half of one.
const (
	sayWatch   = "watch"
	sayRelease = "release"
	sayDone    = "done"
	sayOverdue = "overdue"
)

func watchLine(n uint64, pgid int, lease *Lease) string {
	at, leased := lease.limit()
	if !leased {
		return fmt.Sprintf("%s %d %d\n", sayWatch, n, pgid)
	}
	return fmt.Sprintf("%s %d %d %d %d\n", sayWatch, n, pgid, int64(at.term), int64(at.kill))
}

func releaseLine(n uint64, pgid int) string { return fmt.Sprintf("%s %d %d\n", sayRelease, n, pgid) }

func overdueLine(pgid int) string { return fmt.Sprintf("%s %d\n", sayOverdue, pgid) }

// roster is all that the guard knows: which groups there are, and what is to be done to
// them when. It has no clock and sends no signal.
type roster struct {
	grace, termGrace time.Duration
	groups           map[int]*watched
	orphaned         bool // the program is gone
}

// watched is one group. Its life, each edge taken once:
//
//	living ──term──▶ asked ──kill──▶ killed
//	   └────────────────┴───────────────┴──release, gone──▶ forgotten
type watched struct {
	limit
	asked, killed bool
}

// never is when a group without a lease is ended while the program lives.
const never = time.Duration(1<<63 - 1)

// order is what is to be sent.
type order struct {
	pgid    int
	kill    bool // SIGKILL, not SIGTERM
	overdue bool // since a lease was not kept
}

func newRoster(grace, termGrace time.Duration) *roster {
	return &roster{grace: grace, termGrace: termGrace, groups: make(map[int]*watched)}
}

// hear takes a line and gives the answer, "" for none. A line that is not understood is
// left alone: no program of the same build writes it.
func (r *roster) hear(line string) (answer string) {
	words := strings.Fields(line)
	if len(words) != 3 && len(words) != 5 {
		return ""
	}
	var numbers [4]int64
	for i, word := range words[1:] {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return ""
		}
		numbers[i] = n
	}
	pgid := int(numbers[1])
	switch {
	case pgid <= 1: // 0 and 1 would be groups that are not a child's
		return ""
	case words[0] == sayRelease:
		delete(r.groups, pgid)
	case words[0] == sayWatch:
		at := limit{never, never}
		if len(words) == 5 {
			at = limit{time.Duration(numbers[2]), time.Duration(numbers[3])}
		}
		w := r.groups[pgid]
		switch {
		case w == nil:
			r.groups[pgid] = &watched{limit: at}
		case !w.asked: // what was begun is brought to its end: the lease was over
			w.limit = at
		}
	}
	if numbers[0] == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d\n", sayDone, numbers[0])
}

// orphan notes that the program is gone: nothing more is heard, and all groups are ended
// now, or earlier if their lease says so.
func (r *roster) orphan(now time.Duration) {
	r.orphaned = true
	for _, w := range r.groups {
		if !w.asked {
			w.term = min(w.term, now+r.grace)
		}
		w.kill = min(w.kill, max(w.term, now)+r.termGrace)
	}
}

// due gives what is to be sent now, and how long nothing more is to be sent; never if
// nothing will.
func (r *roster) due(now time.Duration) (orders []order, wait time.Duration) {
	wait = never
	for pgid, w := range r.groups {
		if !w.asked && now >= w.term {
			w.asked = true
			orders = append(orders, order{pgid: pgid, overdue: !r.orphaned})
		}
		if w.asked && !w.killed && now >= w.kill {
			w.killed = true
			orders = append(orders, order{pgid: pgid, kill: true})
		}
		switch {
		case w.killed || w.term == never:
		case w.asked:
			wait = min(wait, w.kill-now)
		default:
			wait = min(wait, w.term-now)
		}
	}
	slices.SortStableFunc(orders, func(a, b order) int { return a.pgid - b.pgid })
	return orders, wait
}

// forget lets go of groups that are gone, of those of a program that is gone: while it
// lives it says so itself, since it knows when their numbers can be another's.
func (r *roster) forget(gone func(pgid int) bool) {
	for pgid := range r.groups {
		if gone(pgid) {
			delete(r.groups, pgid)
		}
	}
}
