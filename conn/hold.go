package conn

import (
	"time"

	"github.com/correlator-go/correlator/engine"
)

const (
	// holdMost is how long, at most, anything is held: a tick of the deadlines, which
	// are no more precise than that.
	holdMost = engine.DefaultTick
	// holdCancels is how many cancels are written together at least, if so many calls
	// expire: some 30 KiB, and as much again for the calls that follow.
	holdCancels = 256
)

// hold gathers what a run of the driver leads to. Calls that expire in one run are
// cancelled at the peer, and often made again by their callbacks or by the callers
// that they wake: each of these frames by itself would cost a write call, which is
// more than all the rest of an expiry. So the driver corks the line before the first
// of them expires, and what was gathered is written when the run is over, after
// every holdCancels cancels, and after holdMost.
//
// I10: nothing is held for longer than holdMost, whatever callbacks do to the
// driver. What is queued looks at the cork after it was queued; who ends the hold
// takes the cork off and then looks at what is queued. So one of them sees the
// other. The timer runs for as long as the line is corked.
type hold struct {
	line    *line
	cancels *cancels
	timer   *time.Timer
}

func (h *hold) init(l *line, c *cancels) {
	h.line, h.cancels = l, c
	h.timer = time.AfterFunc(time.Hour, h.late)
	h.timer.Stop()
}

// begin corks the line. Only the driver calls it, and end.
func (h *hold) begin() {
	h.line.cork(driverCork)
	h.timer.Reset(holdMost)
}

// end uncorks it and writes what was gathered.
func (h *hold) end() {
	h.timer.Stop()
	h.line.uncork(driverCork)
	h.flush()
}

// late writes what was gathered in a run that lasts. A timer that this winds after
// end stopped it fires once more and finds nothing to do.
func (h *hold) late() {
	if h.line.heldBy(driverCork) {
		h.timer.Reset(holdMost)
		h.flush()
	}
}

func (h *hold) flush() {
	if !h.line.empty() || h.cancels.waiting.Load() > 0 {
		h.line.poke()
	}
}
