package main

import (
	"fmt"
	"sync"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/report"
)

// strayBytes is how much of a frame that could not be used is shown.
const strayBytes = 120

// strays remembers what the target sent and nobody could use, the first of each kind.
// Answers that came too late are none: the report counts those.
type strays struct {
	mu    sync.Mutex
	kinds [4]strayKind // protected by mu
}

type strayKind struct {
	frames int64
	first  string
}

// strayKinds says what the kinds are, for one frame and for many.
var strayKinds = [4]struct {
	reason    conn.StrayReason
	one, many string
}{
	{conn.StrayUnreadable, "1 frame of the target was unreadable", "%s frames of the target were unreadable"},
	{conn.StrayTooLarge, "1 frame of the target was too large", "%s frames of the target were too large"},
	{conn.StrayBatch, "1 frame of the target was a batch", "%s frames of the target were batches"},
	{conn.StrayNoID, "1 answer had no id", "%s answers had no id"},
}

// see is a conn.Options.OnStray, for any number of connections.
func (s *strays) see(stray conn.Stray) {
	for i := range strayKinds {
		if strayKinds[i].reason != stray.Reason {
			continue
		}
		s.mu.Lock()
		kind := &s.kinds[i]
		if kind.frames++; kind.frames == 1 {
			kind.first = sample(stray)
		}
		s.mu.Unlock()
	}
}

// sample shows the beginning of a frame, and what is wrong with it.
func sample(stray conn.Stray) string {
	text := fmt.Sprintf("%q", stray.Frame[:min(len(stray.Frame), strayBytes)])
	if stray.Size > strayBytes {
		text += fmt.Sprintf("… of %s bytes", report.Grouped(int64(stray.Size)))
	}
	if stray.Err != nil {
		text += fmt.Sprintf(" (%v)", stray.Err)
	}
	return text
}

// forget begins anew, before a run.
func (s *strays) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.kinds[:])
}

// notes are a sentence for each kind that was seen.
func (s *strays) notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var notes []string
	for i, kind := range s.kinds {
		switch {
		case kind.frames == 1:
			notes = append(notes, strayKinds[i].one+": "+kind.first)
		case kind.frames > 1:
			notes = append(notes, fmt.Sprintf(strayKinds[i].many, report.Grouped(kind.frames))+", the first: "+kind.first)
		}
	}
	return notes
}
