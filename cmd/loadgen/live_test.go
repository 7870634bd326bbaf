package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/tally"
)

func row(start float64) tally.Row {
	return tally.Row{
		Start: start, Length: 1, InFlight: 7, Late: 1, Ends: tally.Ends{OK: 900, Error: 60, Timeout: 40},
		Response: tally.Summary{Count: 960, P50: 1_234_567, P99: 98_765_432},
	}
}

func TestPlainLineEveryFiveSeconds(t *testing.T) {
	var out bytes.Buffer
	l := newLive(&out)
	for i := range 12 {
		l.row(row(float64(i)))
	}
	l.end()
	require.Equal(t, "  5.0s  960/s  p50 1.23ms  p99 98.8ms  in flight 7  errors 500  late 5\n"+
		" 10.0s  960/s  p50 1.23ms  p99 98.8ms  in flight 7  errors 500  late 10\n", out.String())
}

func TestLineOnATerminal(t *testing.T) {
	var out bytes.Buffer
	l := newLive(&out)
	l.terminal = true
	r := row(0)
	r.Warm, r.Response = true, tally.Summary{}
	l.row(r)
	l.row(row(1))
	l.end()
	l.end()
	require.Equal(t, "\r  1.0s warm-up  960/s  in flight 7  errors 100  late 1\x1b[K"+
		"\r  2.0s  960/s  p50 1.23ms  p99 98.8ms  in flight 7  errors 100  late 2\x1b[K\r\x1b[K", out.String())
}
