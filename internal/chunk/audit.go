//go:build invariants

package chunk

import (
	"sync"

	"github.com/correlator-go/correlator/internal/invariants"
)

// Audit is a chunk's account of the frames that somebody may look at. When the
// last one who may looks away, the frame's bytes are poisoned: long before the
// whole chunk is, and without touching its neighbours. Frames are known by the
// address of their first byte.
type Audit struct {
	mu     sync.Mutex
	frames map[*byte]*frameAudit
	lent   *frameAudit // by the reader, until its next call
}

type frameAudit struct {
	bytes  []byte
	leases int // of retained messages
}

// Lend notes that the reader hands out frame.
func (a *Audit) Lend(frame []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lent = a.at(frame)
}

// LendEnds notes that the reader was called again.
func (a *Audit) LendEnds() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.lent; f != nil {
		a.lent = nil
		a.look(f)
	}
}

// Lease notes that frame is retained once more.
func (a *Audit) Lease(frame []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at(frame).leases++
}

// Unlease takes one lease of frame back.
func (a *Audit) Unlease(frame []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.frames[&frame[0]]
	if f == nil || f.leases == 0 {
		panic("codec: message released twice")
	}
	f.leases--
	a.look(f)
}

// Move notes that a splice turned the frame into another extent.
func (a *Audit) Move(from, to []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.at(from)
	delete(a.frames, &from[0])
	f.bytes = to
	a.frames[&to[0]] = f
}

// close ends the chunk's generation.
func (a *Audit) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.frames {
		invariants.Check(f.leases == 0, "C2: a chunk is given back under a lease")
	}
	clear(a.frames)
	a.lent = nil
}

func (a *Audit) at(frame []byte) *frameAudit {
	f := a.frames[&frame[0]]
	if f == nil {
		if a.frames == nil {
			a.frames = map[*byte]*frameAudit{}
		}
		f = &frameAudit{bytes: frame}
		a.frames[&frame[0]] = f
	}
	return f
}

func (a *Audit) look(f *frameAudit) {
	if f.leases == 0 && f != a.lent {
		delete(a.frames, &f.bytes[0])
		invariants.Poison(f.bytes)
	}
}
