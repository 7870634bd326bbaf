package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/peer"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-role" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nonsense"}, {"run", "-nonsense"}, {"run", "more"}, {"judge"}, {"chart"}} {
		var out, log bytes.Buffer
		require.Equalf(t, 2, run(args, &out, &log), "%q", args)
		require.Contains(t, log.String(), "usage: peers")
	}
	require.Zero(t, run([]string{"run", "-h"}, new(bytes.Buffer), new(bytes.Buffer)))
	var log bytes.Buffer
	require.Equal(t, 1, run([]string{"run", "-rows", "("}, new(bytes.Buffer), &log))
	require.Contains(t, log.String(), "-rows")
	require.Equal(t, 1, run([]string{"check", "-rows", "no such row"}, new(bytes.Buffer), &log))
	require.Equal(t, 1, run([]string{"judge", "no such file"}, new(bytes.Buffer), &log))
}

// From measuring over the document to verdicts and the chart.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	figures, picture := filepath.Join(dir, "p.json"), filepath.Join(dir, "p.svg")
	var out, log bytes.Buffer
	require.Zero(t, run([]string{"run", "-rows", "^unix, 1024 callers, 100 bytes", "-peers", "^(correlator|mcp-go)$", "-rounds", "1", "-json", figures, "-profiles", dir}, &out, &log), log.String())
	require.Contains(t, out.String(), "* "+peer.Blocking)
	require.Contains(t, out.String(), "first by calls/s")
	require.Contains(t, log.String(), "s in all")

	for _, kind := range []string{"cpu", "allocs"} {
		require.FileExists(t, filepath.Join(dir, "unix-1024-callers-100-bytes-mcp-go."+kind))
	}

	out.Reset()
	require.Equal(t, 1, run([]string{"judge", "-tables", figures}, &out, &log), "go-sdk was not measured, so a demand is not met")
	require.Regexp(t, `unknown .*45× go-sdk +not measured`, out.String())
	require.Contains(t, out.String(), "unix, 1024 callers, 100 bytes")

	require.Zero(t, run([]string{"chart", "-out", picture, figures}, &out, &log), log.String())
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Contains(t, string(svg), "mark3labs/mcp-go")
	out.Reset()
	require.Zero(t, run([]string{"chart", figures}, &out, &log))
	require.Equal(t, string(svg), out.String())
}
