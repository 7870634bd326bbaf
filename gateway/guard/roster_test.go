package guard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const s = time.Second

func orders(r *roster, now time.Duration) []order {
	out, _ := r.due(now)
	return out
}

// A group without a lease is left alone for as long as the program lives, and ended in
// two steps when it does not.
func TestRosterOrphans(t *testing.T) {
	r := newRoster(s, 2*s)
	require.Equal(t, "done 7\n", r.hear("watch 7 100\n"))
	require.Empty(t, r.hear("watch 0 101\n"), "nobody waits for that")
	now := 1000 * s
	got, wait := r.due(now)
	require.Empty(t, got)
	require.Equal(t, never, wait)

	r.orphan(now)
	got, wait = r.due(now)
	require.Empty(t, got)
	require.Equal(t, s, wait)
	now += s
	got, wait = r.due(now)
	require.Equal(t, []order{{pgid: 100}, {pgid: 101}}, got)
	require.Equal(t, 2*s, wait)
	r.forget(func(pgid int) bool { return pgid == 101 })
	now += 2 * s
	got, wait = r.due(now)
	require.Equal(t, []order{{pgid: 100, kill: true}}, got)
	require.Equal(t, never, wait)
	require.Empty(t, orders(r, now+time.Hour), "each once")
}

// A lease ends its group though the program lives, unless it is kept; what was begun is
// brought to its end.
func TestRosterLeases(t *testing.T) {
	r := newRoster(s, 2*s)
	r.hear("watch 1 100 10000000000 12000000000")
	got, wait := r.due(4 * s)
	require.Empty(t, got)
	require.Equal(t, 6*s, wait)
	r.hear("watch 0 100 20000000000 22000000000")
	require.Empty(t, orders(r, 19*s))
	require.Equal(t, []order{{pgid: 100, overdue: true}}, orders(r, 20*s))
	require.Equal(t, "done 9\n", r.hear("watch 9 100 90000000000 92000000000"), "too late")
	require.Empty(t, orders(r, 21*s))
	require.Equal(t, []order{{pgid: 100, kill: true}}, orders(r, 22*s))
	require.Equal(t, "done 10\n", r.hear("release 10 100"))
	require.Empty(t, r.groups)
}

// Both steps at once, for one who was away.
func TestRosterWakesLate(t *testing.T) {
	r := newRoster(s, 2*s)
	r.hear("watch 1 100 10000000000 12000000000")
	require.Equal(t, []order{{pgid: 100, overdue: true}, {pgid: 100, kill: true}}, orders(r, time.Hour))
}

// The end of the program gives a leased group no more time than its lease does.
func TestRosterOrphansUnderLease(t *testing.T) {
	for name, c := range map[string]struct{ at, term, kill time.Duration }{
		"long before":      {0, s, 3 * s},
		"just before":      {19*s + s/2, 20 * s, 21 * s},
		"between the two":  {20*s + s/2, 20*s + s/2, 21 * s},
		"grace cut short":  {18 * s, 19 * s, 21 * s},
		"after everything": {30 * s, 30 * s, 30 * s},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoster(s, 2*s)
			r.hear("watch 1 100 20000000000 21000000000")
			r.orphan(c.at)
			var term, kill time.Duration
			for now := c.at; kill == 0; now += s / 10 {
				for _, o := range orders(r, now) {
					require.False(t, o.overdue)
					if o.kill {
						kill = now
					} else {
						term = now
					}
				}
			}
			require.Equal(t, c.term, term)
			require.Equal(t, c.kill, kill)
		})
	}
}

// Lines that are none change nothing, whatever is in them: -1 would be every process of
// the user, 0 our own group.
func TestRosterRefuses(t *testing.T) {
	for _, line := range []string{
		"", "\n", "watch", "watch 1", "watch 1 0", "watch 1 1", "watch 1 -1", "watch 1 x", "watch x 100", "watch 1 100 5", "watch 1 100 5 6 7",
		"watch 1 100 5 x", "watch 1 99999999999999999999", "release 1 0",
	} {
		r := newRoster(s, s)
		require.Empty(t, r.hear(line), line)
		require.Empty(t, r.groups, line)
	}
	r := newRoster(s, s)
	require.Equal(t, "done 1\n", r.hear("unheard-of 1 100"), "a line of three is answered, so that nobody waits")
	require.Empty(t, r.groups)
}
