package table_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/table"
)

// Every table settles what it registers: else a wait would not return.
func TestMeasure(t *testing.T) {
	for _, name := range table.Names() {
		for _, s := range []table.Size{{1, 1}, {128, 4}} {
			f, err := table.Measure(name, s, time.Millisecond)
			require.NoError(t, err)
			require.Positivef(t, f.Ns, "%s with %v", name, s)
		}
	}
	_, err := table.Measure("nobody's", table.Size{Pending: 1, Goroutines: 1}, time.Millisecond)
	require.ErrorContains(t, err, "nobody's")
}
