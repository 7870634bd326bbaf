package wire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/wire"
)

// Every library manages every frame of what it is measured with.
func TestMeasure(t *testing.T) {
	for _, shape := range wire.Shapes() {
		require.Truef(t, wire.Does(wire.Ours, shape), "ours does not do %q", shape)
		for _, library := range wire.Libraries() {
			if !wire.Does(library, shape) {
				continue
			}
			ns, allocs, err := wire.Measure(library, shape, time.Nanosecond)
			require.NoErrorf(t, err, "%s: %s", library, shape)
			require.Positive(t, ns)
			require.GreaterOrEqual(t, allocs, 0.0)
		}
	}
	_, _, err := wire.Measure("nobody", wire.Text, time.Nanosecond)
	require.ErrorContains(t, err, "nobody")
}
