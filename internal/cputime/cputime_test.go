package cputime_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/cputime"
)

// Work is seen, and no more of it than the processors could do.
func TestUsed(t *testing.T) {
	before, known := cputime.Used()
	if !known {
		require.Zero(t, before)
		return
	}
	after := before
	for n := 0; after < before+time.Millisecond; n++ { // a system that counts in ticks tells of a whole one
		after, known = cputime.Used()
		require.True(t, known)
		require.GreaterOrEqual(t, after, before)
	}
	require.Less(t, before, time.Hour, "a length, not a date")
}
