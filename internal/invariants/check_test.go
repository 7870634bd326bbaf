package invariants_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/invariants"
)

func TestCheck(t *testing.T) {
	require.NotPanics(t, func() { invariants.Check(true, "holds") })
	broken := func() { invariants.Check(false, "I%d broken", 1) }
	if invariants.Enabled {
		require.PanicsWithValue(t, "broken invariant: I1 broken", broken)
	} else {
		require.NotPanics(t, broken)
	}
}

func TestPoison(t *testing.T) {
	b := []byte("abc")
	invariants.Poison(b)
	if invariants.Enabled {
		require.Equal(t, []byte{invariants.PoisonByte, invariants.PoisonByte, invariants.PoisonByte}, b)
	} else {
		require.Equal(t, "abc", string(b))
	}
}
