package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

const (
	// SizeMin is the shortest made-up params: {"data":""} holds that many bytes.
	SizeMin = len(`{"data":""}`)
	// SizeMax is the longest made-up params that ParseSize takes.
	SizeMax = 16 << 20
	// variants is how many different params are made up front. Enough that no
	// branch predictor learns them, few enough to stay in a cache.
	variants = 64
	// variantBytes bounds the memory of all variants together.
	variantBytes = 32 << 20
)

// Payload is the params of every request of a run. It is safe for concurrent
// use.
type Payload struct {
	seed   uint64
	bodies [][]byte
}

// NewPayload makes up params of least to most bytes, evenly spread, from seed.
func NewPayload(least, most int, seed uint64) *Payload {
	n := max(1, min(variants, variantBytes/max(most, 1)))
	p := &Payload{seed: seed, bodies: make([][]byte, n)}
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range p.bodies {
		p.bodies[i] = body(r, least+r.IntN(most-least+1))
	}
	return p
}

// FixedPayload sends params, which must be JSON or nil, with every request.
func FixedPayload(params []byte) *Payload { return &Payload{bodies: [][]byte{params}} }

// Params returns the params of request number k. The caller must not change
// them.
func (p *Payload) Params(k uint64) []byte {
	if len(p.bodies) == 1 {
		return p.bodies[0]
	}
	return p.bodies[mix(p.seed+k)%uint64(len(p.bodies))]
}

func body(r *rand.Rand, size int) []byte {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	out := append(make([]byte, 0, size), `{"data":"`...)
	for len(out) < size-len(`"}`) {
		for v, i := r.Uint64(), 0; i < 10 && len(out) < size-len(`"}`); i++ {
			out = append(out, letters[v&63])
			v >>= 6
		}
	}
	return append(out, `"}`...)
}

// Subseed is the seed of number i of what one seed decides; that of number 0 is the
// seed itself. Those of neighbouring seeds have nothing in common.
func Subseed(seed uint64, i int) uint64 {
	if i == 0 {
		return seed
	}
	return mix(mix(seed) + uint64(i))
}

// mix is the finisher of SplitMix64: neighbouring numbers become unrelated ones.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// ParseSize reads "100" or "100..4096", in bytes of params.
func ParseSize(text string) (least, most int, err error) {
	first, last, ranged := strings.Cut(text, "..")
	if !ranged {
		last = first
	}
	least, err = strconv.Atoi(first)
	if err == nil {
		most, err = strconv.Atoi(last)
	}
	if err != nil || least < SizeMin || most < least || most > SizeMax {
		return 0, 0, fmt.Errorf("size %q: want BYTES or LEAST..MOST between %d and %d", text, SizeMin, SizeMax)
	}
	return least, most, nil
}

// ToolParams returns the params of MCP's tools/call of tool with args, a JSON
// object ("" is an empty one). meta is the JSON text of _meta; nil leaves it out.
func ToolParams(tool, args string, meta []byte) ([]byte, error) {
	if args == "" {
		args = "{}"
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &object); err != nil || object == nil {
		return nil, fmt.Errorf("args %s: not a JSON object", args)
	}
	return json.Marshal(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      json.RawMessage `json:"_meta,omitempty"`
	}{tool, json.RawMessage(args), meta})
}
