package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/rival"
)

// Nobody reads the times of a test, or of a benchmark that runs once.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" || flag.Lookup("test.benchtime").Value.String() == "1x" {
		pace = 0.02
	}
	os.Exit(m.Run())
}

func TestClaimsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Claims() {
		name := c.Area + ": " + c.Name
		require.False(t, seen[name], name)
		seen[name] = true
		require.NotNil(t, c.Measure, name)
		require.NotEmpty(t, c.Unit, name)
	}
}

// Every table stands every workload, in a size that takes no time.
func TestTables(t *testing.T) {
	for name := range tables {
		what := []string{"window/1", "window/2", "pipe/1", "pipe/4", "cross"}
		if name == readyKeysName { // its ring is for one goroutine
			what = []string{"window/1"}
		}
		v, err := tableRole(append([]string{name, "64", "2ms"}, what...))
		require.NoError(t, err, name)
		for _, w := range what {
			require.Positive(t, v[w], "%s %s", name, w)
		}
	}
	_, err := tableRole([]string{"nobody", "1", "1ms", "cross"})
	require.Error(t, err)
}

func TestMemoryRole(t *testing.T) {
	for name := range tables {
		v, err := memoryRole([]string{name, "10000"}) // of few the cost drowns in what the heap moves by itself
		require.NoError(t, err, name)
		require.Positive(t, v["bytes"], name)
		require.Positive(t, v["gc"], name)
	}
}

func TestLatenessRoleIsNeverEarly(t *testing.T) {
	v, err := latenessRole(nil)
	require.NoError(t, err)
	require.Zero(t, v["early"])
}

// All decoders of a series see the same in the same frames.
func TestDecodersAgree(t *testing.T) {
	for _, s := range shapes {
		for _, f := range frames(s.shape) {
			var std rival.Message
			require.NoError(t, rival.DecodeStd(f, &std))
			for _, decode := range []rival.Decoder{rival.SonicStd(), rival.SonicDefault()} {
				if decode == nil {
					continue
				}
				var m rival.Message
				require.NoError(t, decode(f, &m))
				require.Equal(t, std.ID, m.ID)
				require.Equal(t, string(std.Token), string(m.Token))
				require.Equal(t, string(std.Result), string(m.Result))
			}
		}
	}
}

func TestRolesMeasure(t *testing.T) {
	for name, args := range map[string][]string{
		"encode": nil, "splice": nil, "framing": nil, "pool": nil, "wake": nil,
		"leaver": nil, "timers": {"10"}, "deadline": {"10"}, "flat": {"20000"}, "decode": {ourName},
	} {
		v, err := Roles()[name](args)
		require.NoError(t, err, name)
		require.NotEmpty(t, v, name)
	}
}

// A connection, its callbacks and the floor against the echo server, over a socket
// as in the check program, with the server in this process.
func TestConnRole(t *testing.T) {
	at, stop := startEcho(t)
	defer stop()
	for _, kind := range []string{floorName, blockingName, callbacksConnName, batchesName} {
		v, err := connRole([]string{kind, at, "16", "100", "1s"})
		require.NoError(t, err, kind)
		require.Positive(t, v["calls/s"], kind)
	}
	_, err := connRole([]string{"nothing", at, "16", "100", "1s"})
	require.Error(t, err)
}

func TestClaimNamesFitTheReport(t *testing.T) {
	for _, c := range Claims() {
		require.LessOrEqual(t, len(c.Name), 72, c.Name)
		require.False(t, strings.HasSuffix(c.Name, " "))
	}
	require.NotEmpty(t, claim.AtMost.String())
}

// startEcho serves in this process and returns where, and what ends it.
func startEcho(t testing.TB) (address string, stop func()) {
	in, end := io.Pipe()
	line, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- serveUntil(in, out) }()
	_, err := fmt.Fscanln(line, &address)
	require.NoError(t, err)
	return address, func() {
		require.NoError(t, end.Close())
		require.NoError(t, <-ended)
	}
}

func TestSlowRole(t *testing.T) {
	for _, load := range []string{"idle", "flooded"} {
		v, err := slowRole([]string{load})
		require.NoError(t, err, load)
		require.Positive(t, v["calls p99"], load)
		require.Positive(t, v["notes p99"], load)
	}
	_, err := slowRole([]string{"busy"})
	require.Error(t, err)
}
