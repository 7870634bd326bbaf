package contest_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/peers/contest"
	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/table"
	"github.com/correlator-go/correlator/bench/peers/wire"
)

// The test binary is its own child, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-role" {
		os.Exit(claim.Main(os.Args[1:], os.Stdout, os.Stderr, nil, map[string]claim.Role{
			contest.ClientChild: contest.Role, contest.ServerChild: contest.ServerRole,
			contest.CodecChild: contest.CodecRole, contest.TableChild: contest.TableRole,
		}))
	}
	os.Exit(m.Run())
}

func row(s report.Scenario, transport string, callers, bytes int) report.Row {
	return report.Row{Scenario: s, Transport: transport, Callers: callers, Bytes: bytes}
}

// A contest of two runs through servers and children of its own, over every
// transport and with every scenario.
func TestContest(t *testing.T) {
	p := contest.Plan{
		Rounds: 2, Warm: time.Millisecond, Window: 10 * time.Millisecond,
		Peers: func(q peer.Peer, _ report.Row) bool {
			return q.Name == peer.Blocking || q.Name == peer.Callbacks || q.Name == "net-rpc-json" || q.Class == peer.Adapted
		},
		Rows: []report.Row{
			row(report.Closed, contest.Unix, 1024, contest.Small), row(report.Closed, contest.TCP, 4, contest.Large), row(report.Closed, contest.Pipe, 4, contest.Small),
			row(report.Open, contest.Unix, 0, contest.Small), row(report.Stuck, contest.Unix, 4, contest.Small), row(report.Expiry, contest.Unix, 4, contest.Small),
			row(report.Servers, contest.Unix, 4, contest.Small), row(report.Adapters, contest.Unix, 1024, contest.Small),
			{Scenario: report.Codec, Shape: wire.Header}, {Scenario: report.Table, Shape: table.Sizes()[0].String()},
		},
	}
	var out, log bytes.Buffer
	r, err := contest.Run(p, &out, &log)
	require.NoError(t, err)
	require.Len(t, r.Rows, len(p.Rows))
	for _, row := range r.Rows {
		require.Contains(t, out.String(), row.Title())
		require.NotEmpty(t, row.Entries)
		for _, e := range row.Entries {
			if strings.Contains(e.Failed, load.ErrStuck.Error()) || strings.Contains(e.Failed, "does not hold") {
				continue // a machine that is busy with other tests may be too slow
			}
			require.Emptyf(t, e.Failed, "%s: %s", row.Title(), e.Peer)
			rounds := p.Rounds
			if row.Scenario == report.Stuck {
				rounds = 1
			}
			require.Lenf(t, e.Rounds, rounds, "%s: %s", row.Title(), e.Peer)
		}
	}
	require.Len(t, r.Rows[0].Entries, 3, "no client over a transport of ours beside those that are compared")
	require.Len(t, r.Rows[7].Entries, 2)
	expired := r.Rows[5].Entry(peer.Blocking)
	if late, ok := expired.Median(load.P50); ok {
		require.Positive(t, late, "calls expire late, never early")
	}
}

// A contender that cannot do a row says why, and is not asked again.
func TestContestGoesOnWithoutWhoFails(t *testing.T) {
	p := contest.Plan{
		Rounds: 2, Warm: time.Millisecond, Window: 5 * time.Millisecond,
		Peers: func(q peer.Peer, _ report.Row) bool { return q.Name == peer.Callbacks || q.Name == peer.Windows },
		// Callbacks can have no more calls in flight than the table holds.
		Rows: []report.Row{row(report.Closed, contest.Unix, 40_000, 1)},
	}
	r, err := contest.Run(p, new(bytes.Buffer), new(bytes.Buffer))
	require.NoError(t, err)
	e := r.Rows[0].Entry(peer.Callbacks)
	require.Contains(t, e.Failed, "too many pending calls")
	require.Empty(t, e.Rounds)
	require.Len(t, r.Rows[0].Entry(peer.Windows).Rounds, 2)
}

func TestPlans(t *testing.T) {
	for name, p := range map[string]contest.Plan{"quick": contest.Quick(), "full": contest.Full(), "check": contest.Check()} {
		require.Positive(t, p.Rounds, name)
		seen := map[string]bool{}
		for _, r := range p.Rows {
			require.Falsef(t, seen[r.Title()], "%s: %q twice", name, r.Title())
			seen[r.Title()] = true
		}
		require.True(t, seen["unix, 1024 callers, 100 bytes"], name)
		require.Equal(t, name, p.Name)
		for _, transport := range []string{contest.Unix, contest.TCP, contest.Pipe} {
			for _, callers := range []int{64, 1024, 10000} {
				for _, bytes := range []int{contest.Small, contest.Large} {
					want := row(report.Closed, transport, callers, bytes)
					require.Equal(t, name != "check" || callers < 10000, seen[want.Title()], "%s: %s", name, want.Title())
				}
			}
		}
	}
}

// The rivals of every row of the short plan are those that come near, at least.
func TestQuickLeavesOutOnlyWhoIsFar(t *testing.T) {
	p := contest.Quick()
	for _, r := range p.Rows {
		if r.Scenario != report.Closed {
			continue
		}
		rivals := 0
		for _, q := range peer.All() {
			takes := p.Peers(q, r)
			if q.Class == peer.JSON && takes {
				rivals++
			}
			if q.Name == peer.Blocking || slices.Contains(peer.Near, q.Name) || r.Transport == contest.Unix || r.Callers == 1024 && r.Bytes == contest.Small {
				require.True(t, takes, "%s in %s", q.Name, r.Title())
			}
		}
		require.GreaterOrEqual(t, rivals, len(peer.Near), r.Title())
	}
}

// Who does not wait for room to write has room for all that is in flight.
func TestCallbacksHaveRoom(t *testing.T) {
	const callers = 3000 // 12 MiB, above what a connection holds by default
	p := contest.Plan{
		Rounds: 1, Warm: time.Millisecond, Window: 5 * time.Millisecond,
		Peers: func(q peer.Peer, _ report.Row) bool { return q.Name == peer.Callbacks || q.Name == peer.Batches },
		Rows:  []report.Row{row(report.Closed, contest.Unix, callers, contest.Large)},
	}
	r, err := contest.Run(p, new(bytes.Buffer), new(bytes.Buffer))
	require.NoError(t, err)
	for _, name := range []string{peer.Callbacks, peer.Batches} {
		e := r.Rows[0].Entry(name)
		require.Empty(t, e.Failed)
		require.Len(t, e.Rounds, 1)
	}
}

func TestRolesRefuseBadArguments(t *testing.T) {
	for _, role := range []claim.Role{contest.Role, contest.ServerRole, contest.CodecRole, contest.TableRole} {
		_, err := role(nil)
		require.Error(t, err)
	}
	_, err := contest.ServerRole([]string{"nobody"})
	require.ErrorContains(t, err, "nobody")
	_, err = contest.Role([]string{`{"client":"nobody"}`})
	require.ErrorContains(t, err, "nobody")
	_, err = contest.TableRole([]string{table.Ours, "no size"})
	require.ErrorContains(t, err, "no size")
}
