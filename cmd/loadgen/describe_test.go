package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/plan"
)

func TestStagesText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		10 * time.Minute: "10m", 20 * time.Second: "20s", time.Hour: "1h", 90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s",
		100 * time.Millisecond: "100ms", 10*time.Hour + 10*time.Minute: "10h10m", 0: "0s",
	} {
		require.Equal(t, want+":2000/s", stagesText(constant(d, 2000)))
	}
	require.Equal(t, "5/s,1m:1/s..2/s", stagesText([]plan.Stage{{For: endless, From: 5, To: 5}, {For: time.Minute, From: 1, To: 2}}))
}
