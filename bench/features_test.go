package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every feature does its work, in a size that takes no time.
func TestFeatureRole(t *testing.T) {
	at, stop := startEcho(t)
	defer stop()
	for _, f := range engineFeatures {
		v, err := featureRole([]string{"engine", f.name, "2ms"})
		require.NoError(t, err, f.name)
		require.Positive(t, v["ns"], f.name)
	}
	for _, f := range connFeatures {
		v, err := featureRole([]string{"conn", f.name, "500ms", at})
		require.NoError(t, err, f.name)
		require.Positive(t, v["calls/s"], f.name)
		require.Contains(t, v, "allocs", f.name)
	}
	for _, f := range serveFeatures {
		v, err := featureRole([]string{"server", f.name, "500ms"})
		require.NoError(t, err, f.name)
		require.Positive(t, v["calls/s"], f.name)
	}
	for _, args := range [][]string{{"engine"}, {"engine", "nothing", "1ms"}, {"conn", "nothing", "1ms", at}, {"engine", "Observer", "soon"}} {
		_, err := featureRole(args)
		require.Error(t, err, "%q", args)
	}
}

func TestCoresRole(t *testing.T) {
	v, err := coresRole([]string{"1", "table", engineName, "64", "2ms", "window/2"})
	require.NoError(t, err)
	require.Positive(t, v["window/2"])
	for _, args := range [][]string{nil, {"0", "table"}, {"one", "table"}, {"1", "nobody"}} {
		_, err := coresRole(args)
		require.Error(t, err, "%q", args)
	}
}

func TestCallsRole(t *testing.T) {
	for _, args := range [][]string{{"window", engineName, "100"}, {"window", naiveName, "100"}, {"scan", "A", "100"}} {
		v, err := callsRole(args)
		require.NoError(t, err, "%q", args)
		require.Positive(t, v["ns"], "%q", args)
	}
	for _, args := range [][]string{nil, {"window", engineName, "0"}, {"window", "nobody", "1"}, {"scan", "Z", "1"}, {"write", "A", "1"}} {
		_, err := callsRole(args)
		require.Error(t, err, "%q", args)
	}
}
