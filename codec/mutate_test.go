package codec

import (
	"math/rand/v2"
	"testing"

	"github.com/correlator-go/correlator/internal/frameset"
)

// mutate changes a few bytes of a copy of text: replaces, removes, doubles and
// swaps parts, mostly by bytes that mean something in JSON.
func mutate(r *rand.Rand, text []byte) []byte {
	const telling = "{}[]\":,\\u0123456789.eE+-tfn \t\n\r\x00\x1f\x7f\x80\xc3\xe2\xed\xf0\xf4\xff/_"
	out := append([]byte(nil), text...)
	for range 1 + r.IntN(3) {
		if len(out) == 0 {
			return out
		}
		at := r.IntN(len(out))
		switch end := min(len(out), at+1+r.IntN(12)); r.IntN(6) {
		case 0:
			out = append(out[:at], out[end:]...)
		case 1:
			out = append(out[:end:end], out[at:]...)
		case 2:
			out = append(out[:at:at], append([]byte{telling[r.IntN(len(telling))]}, out[at:]...)...)
		case 3:
			out = out[:at]
		default:
			out[at] = telling[r.IntN(len(telling))]
		}
	}
	return out
}

// Mutated frames take the same verdict as with encoding/json and the slow twin.
// It is a fuzz run without the fuzzer: quicker by far, and the same every time.
func TestMutatedFrames(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 2
	}
	var texts [][]byte
	for _, c := range jsonTexts {
		texts = append(texts, []byte(c.text))
	}
	for _, c := range envelopes {
		texts = append(texts, []byte(c.frame))
	}
	texts = append(texts, frameset.Make(frameset.Response, 1, 20)...)
	texts = append(texts, frameset.Make(frameset.Request, 1, 20)...)
	texts = append(texts, frameset.Make(frameset.Text, 1, 5)...)
	texts = append(texts, frameset.Make(frameset.Nested, 1, 2)...)
	const seed = 1
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		for _, text := range texts {
			mutant := mutate(r, text)
			checkAcceptSet(t, mutant)
			checkAgainstReference(t, mutant, ScanOptions{Profile: Profile(r.IntN(3))})
			checkEngines(t, mutant, ScanOptions{})
			checkBodies(t, mutant)
		}
	}
}
