package plan

import (
	"fmt"
	"math"
)

// EntriesMax is how many entries a mix may have.
const EntriesMax = 1000

// Entry is one kind of request of a mix.
type Entry struct {
	Name    string // for reports
	Method  string
	Payload *Payload
	Weight  float64 // its share of the load is its weight among all
	Tool    bool    // a call of an MCP tool, whose result may say that it failed
}

// Mix chooses the kind of each request, by weight. Which one request k gets
// depends on the seed and k alone. It is safe for concurrent use.
type Mix struct {
	entries []Entry
	seed    uint64
	upto    []float64 // the sum of the shares up to and with each entry
}

// NewMix returns a mix of entries, which it keeps. Weights must be finite and
// above 0.
func NewMix(entries []Entry, seed uint64) (*Mix, error) {
	if len(entries) == 0 || len(entries) > EntriesMax {
		return nil, fmt.Errorf("a mix needs 1 to %d entries, not %d", EntriesMax, len(entries))
	}
	var sum float64
	for i, e := range entries {
		if !(e.Weight > 0) || math.IsInf(e.Weight, 0) {
			return nil, fmt.Errorf("entry %d of the mix (%s): its weight is %g, want a number above 0", i+1, e.Name, e.Weight)
		}
		sum += e.Weight
	}
	m := &Mix{entries: entries, seed: seed, upto: make([]float64, len(entries))}
	var upto float64
	for i, e := range entries {
		upto += e.Weight / sum
		m.upto[i] = upto
	}
	return m, nil
}

// Single is a mix of one method.
func Single(method string, p *Payload) *Mix {
	return &Mix{entries: []Entry{{Name: method, Method: method, Payload: p, Weight: 1}}, upto: []float64{1}}
}

// Entries are what the mix is of. The slice must not be changed.
func (m *Mix) Entries() []Entry { return m.entries }

// Share is the part of the load that entry i is meant to be, 0 to 1.
func (m *Mix) Share(i int) float64 {
	if i == 0 {
		return m.upto[0]
	}
	return m.upto[i] - m.upto[i-1]
}

// Pick returns the entry of request number k, by its index, and the params, which
// the caller must not change.
func (m *Mix) Pick(k uint64) (entry int, params []byte) {
	if len(m.entries) == 1 {
		return 0, m.entries[0].Payload.Params(k)
	}
	// Another stream than the one the params are drawn from: the two must not
	// go together.
	u := float64(mix(mix(^m.seed)+k)>>11) / (1 << 53)
	for entry < len(m.upto)-1 && u >= m.upto[entry] {
		entry++
	}
	return entry, m.entries[entry].Payload.Params(k)
}
