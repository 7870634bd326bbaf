package tally

import (
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// partDigits are the significant digits of a part's histogram: there may be a
// thousand parts, and this one takes 30 KiB instead of 250.
const partDigits = 2

// part is the measured calls of one connection, or of one entry of a mix.
type part struct {
	mu       sync.Mutex // protects the fields below
	ends     [kinds]int64
	response *hdr.Histogram
}

// Part is what became of a part of the measured calls.
type Part struct {
	Ends     Ends
	Response Summary
}

// Split keeps the calls of each of so many connections and entries of a mix apart
// as well; one or none is not kept apart. Call it before anything is recorded.
// Recording then takes one more lock per call and kind of part.
func (t *Tally) Split(connections, entries int) {
	t.conns, t.entries = newParts(connections), newParts(entries)
}

func newParts(n int) []*part {
	if n < 2 {
		return nil
	}
	parts := make([]*part, n)
	for i := range parts {
		parts[i] = &part{response: hdr.New(1, int64(latencyMax), partDigits)}
	}
	return parts
}

func (t *Tally) recordParts(samples []Sample) {
	if t.conns == nil && t.entries == nil {
		return
	}
	for i := range samples {
		s := &samples[i]
		if s.Warm {
			continue
		}
		if t.conns != nil {
			t.conns[s.Conn].record(s)
		}
		if t.entries != nil {
			t.entries[s.Entry].record(s)
		}
	}
}

func (p *part) record(s *Sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends[s.Kind]++
	if s.Kind.timed() {
		_ = p.response.RecordValue(clamp(s.Done - s.Planned)) // clamped: it fits
	}
}

// Connections returns a part for each connection, nil if they are not kept apart.
func (t *Tally) Connections() []Part { return snapshot(t.conns) }

// Entries returns a part for each entry of the mix, nil if they are not kept apart.
func (t *Tally) Entries() []Part { return snapshot(t.entries) }

func snapshot(parts []*part) (out []Part) {
	for _, p := range parts {
		p.mu.Lock()
		out = append(out, Part{endsOf(&p.ends), Summarize(p.response)})
		p.mu.Unlock()
	}
	return out
}
