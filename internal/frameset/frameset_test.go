package frameset_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/frameset"
)

func TestFramesAreValidAndDiffer(t *testing.T) {
	for _, s := range append(frameset.Shapes(), frameset.Large()...) {
		t.Run(s.String(), func(t *testing.T) {
			n := 200
			if s >= frameset.Base64 {
				n = 2
			}
			seen := map[string]bool{}
			for _, f := range frameset.Make(s, 1, n) {
				require.True(t, json.Valid(f), "%s", f)
				require.True(t, utf8.Valid(f))
				seen[string(f)] = true
			}
			require.Greater(t, len(seen), n*9/10)
		})
	}
}

func TestSameSeedSameFrames(t *testing.T) {
	require.Equal(t, frameset.Make(frameset.Mix, 7, 100), frameset.Make(frameset.Mix, 7, 100))
	require.NotEqual(t, frameset.Make(frameset.Mix, 7, 100), frameset.Make(frameset.Mix, 8, 100))
}

func TestMeanSizes(t *testing.T) {
	for shape, want := range map[frameset.Shape]float64{
		frameset.Response: 39, frameset.Request: 295, frameset.Text: 1126, frameset.Nested: 16896, frameset.Mix: 555,
		frameset.Base64: 1 << 20, frameset.Objects: 1 << 20,
	} {
		n := 1000
		if want > 1<<19 {
			n = 1
		}
		got := float64(frameset.Bytes(frameset.Make(shape, 1, n))) / float64(n)
		require.InEpsilon(t, want, got, 0.05, shape.String())
	}
}

func Example() {
	for _, s := range frameset.Shapes() {
		frames := frameset.Make(s, 1, frameset.Rotation)
		fmt.Println(s, len(frames))
	}
	// Output:
	// A39B 100
	// B295B 100
	// C1KiB 100
	// D16KiB 100
	// mix 100
}
