package echo

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Shape is the misbehaviour of a server. The zero value behaves well. Blackhole,
// Late and Duplicate are shares between 0 and 1 whose sum is at most 1: one
// request meets at most one of them.
type Shape struct {
	// Delay holds every answer back.
	Delay Delay
	// Blackhole is the share of requests that are never answered.
	Blackhole float64
	// Late is the share of requests answered LateBy after they were read (and
	// not after Delay), which is meant to lie beyond the client's timeout.
	Late   float64
	LateBy time.Duration
	// Duplicate is the share of requests answered twice.
	Duplicate float64
	// Reorder gathers this many answers that are due, or those of one
	// millisecond, and sends them shuffled. 0 and 1 keep their order.
	Reorder int
	// ProgressEvery sends progress at this pace while an answer is held back, to
	// requests that brought a progress token. 0 sends none.
	ProgressEvery time.Duration
	// StallFor stops reading for this long, once per connection, StallAfter its
	// beginning. Answers that are held go on.
	StallFor, StallAfter time.Duration
	// DieAfter ends the connection without a word after this many requests; the
	// last of them is not answered. 0 never does.
	DieAfter int64
}

// Validate reports what cannot be carried out, in words for a command line.
func (s Shape) Validate() error {
	for _, share := range []struct {
		name  string
		value float64
	}{{"blackhole", s.Blackhole}, {"late", s.Late}, {"dup", s.Duplicate}} {
		if !(share.value >= 0 && share.value <= 1) {
			return fmt.Errorf("%s: %g%% is not between 0%% and 100%%", share.name, 100*share.value)
		}
	}
	switch {
	case s.Blackhole+s.Late+s.Duplicate > 1+1e-9:
		return fmt.Errorf("blackhole, late and dup add up to more than 100%%")
	case s.Late > 0 && s.LateBy <= 0:
		return fmt.Errorf("late: say by how much (late-by)")
	case s.Reorder < 0 || s.ProgressEvery < 0 || s.StallFor < 0 || s.StallAfter < 0 || s.DieAfter < 0 || s.LateBy < 0:
		return fmt.Errorf("reorder, progress, stall-read, die-after and late-by cannot be negative")
	}
	return nil
}

// String lists what the shape does in the words of loadgen's flags; "" is a
// server that behaves well.
func (s Shape) String() string {
	var out []string
	say := func(on bool, format string, args ...any) {
		if on {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(s.Delay.Distribution != NoDelay, "delay %v", s.Delay)
	say(s.Blackhole > 0, "blackhole %s", percent(s.Blackhole))
	say(s.Late > 0, "late %s by %v", percent(s.Late), s.LateBy)
	say(s.Duplicate > 0, "dup %s", percent(s.Duplicate))
	say(s.Reorder > 1, "reorder %d", s.Reorder)
	say(s.ProgressEvery > 0, "progress every %v", s.ProgressEvery)
	say(s.StallFor > 0, "stall reading %v at %v", s.StallFor, s.StallAfter)
	say(s.DieAfter > 0, "die after %d", s.DieAfter)
	return strings.Join(out, ", ")
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 6, 64) + "%" }

// fate is what befalls one request.
type fate uint8

const (
	answered fate = iota
	blackholed
	late
	duplicated
)

// draw decides one request's fate and delay. Both are drawn whatever comes of
// it, so that the next request's draw does not depend on this one's fate.
func (s *Shape) draw(r *rand.Rand) (fate, time.Duration) {
	u, delay := r.Float64(), s.Delay.draw(r)
	switch {
	case u < s.Blackhole:
		return blackholed, 0
	case u < s.Blackhole+s.Late:
		return late, s.LateBy
	case u < s.Blackhole+s.Late+s.Duplicate:
		return duplicated, delay
	}
	return answered, delay
}
