//go:build invariants

package codec

import (
	"sync"

	"github.com/correlator-go/correlator/internal/invariants"
)

// audit is a chunk's account of the frames that somebody may look at. When the
// last one who may looks away, the frame's bytes are poisoned: long before the
// whole chunk is, and without touching its neighbours. Frames are known by the
// address of their first byte.
type audit struct {
	mu     sync.Mutex
	frames map[*byte]*frameAudit
	lent   *frameAudit // by the reader, until its next call
}

type frameAudit struct {
	bytes  []byte
	leases int // of retained messages
}

// lend notes that the reader hands out frame.
func (a *audit) lend(frame []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lent = a.at(frame)
}

// lendEnds notes that the reader was called again.
func (a *audit) lendEnds() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.lent; f != nil {
		a.lent = nil
		a.look(f)
	}
}

// lease notes that frame is retained once more.
func (a *audit) lease(frame []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at(frame).leases++
}

// unlease takes one lease of frame back.
func (a *audit) unlease(frame []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.frames[&frame[0]]
	if f == nil || f.leases == 0 {
		panic("codec: message released twice")
	}
	f.leases--
	a.look(f)
}

// move notes that a splice turned the frame into another extent.
func (a *audit) move(from, to []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.at(from)
	delete(a.frames, &from[0])
	f.bytes = to
	a.frames[&to[0]] = f
}

// close ends the chunk's generation.
func (a *audit) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.frames {
		invariants.Check(f.leases == 0, "C2: a chunk is given back under a lease")
	}
	clear(a.frames)
	a.lent = nil
}

func (a *audit) at(frame []byte) *frameAudit {
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

func (a *audit) look(f *frameAudit) {
	if f.leases == 0 && f != a.lent {
		delete(a.frames, &f.bytes[0])
		invariants.Poison(f.bytes)
	}
}
