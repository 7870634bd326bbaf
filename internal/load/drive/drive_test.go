package drive_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/tally"
)

const ms = time.Millisecond

// steady is an open loop of rate requests a second for d.
func steady(rate float64, d time.Duration) *plan.Schedule {
	return plan.NewSchedule([]plan.Stage{{For: d, From: rate, To: rate}})
}

func constant(d time.Duration) echo.Delay { return echo.Delay{Distribution: echo.Constant, Scale: d} }

// ran is a run and what the server says of it.
type ran struct {
	*drive.Result
	err    error
	server echo.Counts
	sent   []byte // what the server read
}

// teeMax is how much of it a tee remembers.
const teeMax = 1 << 20

// tee remembers the beginning of what is read.
type tee struct {
	io.ReadWriteCloser
	read []byte
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Read(p)
	t.read = append(t.read, p[:max(0, min(n, teeMax-len(t.read)))]...)
	return n, err
}

// against runs c against an echo server in virtual time; it must be called in a
// bubble. What the server holds back, or has not read, has arrived when it returns.
func against(t *testing.T, ctx context.Context, c drive.Config, shape echo.Shape, with ...func(*conn.Options)) ran {
	t.Helper()
	return againstAll(t, ctx, c, []echo.Shape{shape}, with...)
}

// againstAll is against with a connection to a server of each shape.
func againstAll(t *testing.T, ctx context.Context, c drive.Config, shapes []echo.Shape, with ...func(*conn.Options)) ran {
	t.Helper()
	var (
		counters echo.Counters
		links    []*conn.Conn
		ears     []*tee
		served   = make(chan error, len(shapes))
		quit     = make(chan struct{})
		longest  time.Duration
	)
	for _, shape := range shapes {
		client, server := echo.Pipe()
		ear := &tee{ReadWriteCloser: server}
		go func() {
			served <- echo.Serve(ear, echo.Options{Shape: shape, Seed: 11, Counters: &counters, Quit: quit})
		}()
		o := conn.Options{MaxPending: c.InFlight + 8, Overflow: engine.OverflowWait, CloseTimeout: -1}
		for _, set := range with {
			set(&o)
		}
		link, err := conn.New(client, o)
		require.NoError(t, err)
		links, ears, longest = append(links, link), append(ears, ear), max(longest, shape.LateBy)
	}
	if c.Method == "" {
		c.Method = "echo"
	}
	out := ran{}
	out.Result, out.err = drive.Run(ctx, links, c)
	require.NotNil(t, out.Result, "%v", out.err)
	close(quit)
	<-time.After(2*longest + 100*ms)
	out.Reread(0)
	out.server = counters.Snapshot()
	for _, link := range links {
		require.NoError(t, link.Close())
	}
	for range links {
		<-served
	}
	for _, ear := range ears {
		out.sent = append(out.sent, ear.read...)
	}
	return out
}

// virtual runs one test in a bubble.
func virtual(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func requireAddsUp(t *testing.T, r ran) {
	t.Helper()
	require.NoError(t, r.err)
	require.Empty(t, drive.Audit(r.Result, &r.server, false))
	require.Zero(t, r.server.Held)
}

var modes = []drive.Mode{drive.Batch, drive.Callback, drive.Blocking}

// For each fault of the echo server, what the generator, the connection and the
// server counted must agree.
func TestEveryFaultAddsUp(t *testing.T) {
	const timeout = 200 * ms
	late := timeout + 100*ms
	for _, fault := range []struct {
		name  string
		shape echo.Shape
		check func(t *testing.T, r ran)
	}{
		{"none", echo.Shape{}, func(t *testing.T, r ran) { require.Equal(t, r.Sent, r.Ends().OK) }},
		{"delay", echo.Shape{Delay: echo.Delay{Distribution: echo.Exponential, Scale: 60 * ms}},
			func(t *testing.T, r ran) { require.NotZero(t, r.Ends().Timeout); require.NotZero(t, r.Stray()) }},
		{"blackhole", echo.Shape{Blackhole: 0.1}, func(t *testing.T, r ran) { require.Equal(t, r.server.Blackholed, r.Ends().Timeout) }},
		{"late", echo.Shape{Late: 0.1, LateBy: late}, func(t *testing.T, r ran) {
			require.Equal(t, r.server.Late, r.Ends().Timeout)
			require.Equal(t, r.server.Late, r.Stray())
		}},
		{"dup", echo.Shape{Duplicate: 0.1}, func(t *testing.T, r ran) { require.Equal(t, r.server.Duplicates, r.Stray()) }},
		{"reorder", echo.Shape{Reorder: 16}, func(t *testing.T, r ran) { require.Equal(t, r.Sent, r.Ends().OK) }},
		{"progress", echo.Shape{Delay: constant(50 * ms), ProgressEvery: 10 * ms},
			func(t *testing.T, r ran) { require.Equal(t, 4*r.Sent, r.Received()) }},
		{"stall", echo.Shape{Delay: constant(ms), StallFor: 300 * ms, StallAfter: 10 * ms},
			func(t *testing.T, r ran) { require.NotZero(t, r.Ends().Timeout) }},
		{"all", echo.Shape{Delay: constant(15 * ms), Blackhole: 0.1, Late: 0.1, LateBy: late, Duplicate: 0.1, Reorder: 8, ProgressEvery: 10 * ms,
			StallFor: 100 * ms, StallAfter: 10 * ms}, func(*testing.T, ran) {}},
	} {
		for _, mode := range modes {
			virtual(t, fault.name+"/open/"+mode.String(), func(t *testing.T) {
				r := against(t, t.Context(), drive.Config{
					Mode: mode, Schedule: steady(500, 2*time.Second), InFlight: 64, Timeout: timeout, Progress: fault.shape.ProgressEvery > 0,
				}, fault.shape)
				requireAddsUp(t, r)
				require.EqualValues(t, 1000, r.Planned)
				fault.check(t, r)
			})
			virtual(t, fault.name+"/closed/"+mode.String(), func(t *testing.T) {
				r := against(t, t.Context(), drive.Config{
					Mode: mode, Requests: 500, InFlight: 16, Timeout: timeout, Progress: fault.shape.ProgressEvery > 0,
				}, fault.shape)
				requireAddsUp(t, r)
				require.EqualValues(t, 500, r.Sent)
				fault.check(t, r)
			})
		}
	}
}

func TestPeerDies(t *testing.T) {
	for _, mode := range modes {
		for name, c := range map[string]drive.Config{
			"open":   {Mode: mode, Schedule: steady(1000, 2*time.Second), InFlight: 64},
			"closed": {Mode: mode, Duration: 2 * time.Second, InFlight: 64},
		} {
			virtual(t, name+"/"+mode.String(), func(t *testing.T) {
				r := against(t, t.Context(), c, echo.Shape{Delay: constant(10 * ms), DieAfter: 300})
				// The reader or the writer notices first.
				if !errors.Is(r.err, io.ErrClosedPipe) {
					var gone *conn.PeerGone
					require.ErrorAs(t, r.err, &gone)
				}
				require.NotZero(t, r.Ends().Lost)
				require.NotZero(t, r.Ends().OK)
				require.Empty(t, drive.Audit(r.Result, &r.server, true))
				require.Less(t, r.Elapsed, time.Second, "it stopped with the peer")
			})
		}
	}
}

func TestCutAtTheEnd(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := against(t, t.Context(), drive.Config{
				Mode: mode, Schedule: steady(100, time.Second), InFlight: 200, Timeout: time.Minute, End: drive.Cut,
			}, echo.Shape{Blackhole: 0.5})
			require.NoError(t, r.err)
			require.True(t, r.Cut)
			require.Empty(t, drive.Audit(r.Result, &r.server, false))
			require.InDelta(t, r.server.Blackholed, r.Ends().Cancelled, 1, "the last answer may be on its way")
			require.Equal(t, r.Sent, r.Ends().OK+r.Ends().Cancelled)
			require.LessOrEqual(t, r.Elapsed, 1100*ms, "it did not wait for the timeouts")
		})
	}
}

func TestInterrupted(t *testing.T) {
	for _, mode := range modes {
		for name, c := range map[string]drive.Config{
			"open":   {Mode: mode, Schedule: steady(100, time.Hour), InFlight: 1000},
			"closed": {Mode: mode, Duration: time.Hour, InFlight: 1000},
		} {
			virtual(t, name+"/"+mode.String(), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				r := against(t, ctx, c, echo.Shape{Blackhole: 0.5, Delay: constant(ms)})
				require.True(t, r.Interrupted)
				require.Empty(t, drive.Audit(r.Result, &r.server, false))
				require.Less(t, r.Elapsed, 3100*ms)
			})
		}
	}
}

func TestDropWhatExceedsTheCap(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := against(t, t.Context(), drive.Config{Mode: mode, Schedule: steady(1000, time.Second), InFlight: 1, Drop: true}, echo.Shape{Delay: constant(9500 * time.Microsecond)})
			requireAddsUp(t, r)
			require.EqualValues(t, 1000, r.Planned)
			require.EqualValues(t, 900, r.Dropped)
			require.Zero(t, r.Behind)
		})
	}
}

func TestQueueWhatExceedsTheCap(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := against(t, t.Context(), drive.Config{Mode: mode, Schedule: steady(200, time.Second), InFlight: 1}, echo.Shape{Delay: constant(10 * ms)})
			requireAddsUp(t, r)
			require.EqualValues(t, 200, r.Sent)
			require.Equal(t, r.Behind, r.Held, "the cap was the reason, not the generator")
			require.InDelta(t, 199, r.Behind, 1)
			require.InEpsilon(t, time.Second, r.Total.Response.Max(), 0.02, "the last was due at 1 s and answered at 2 s")
			require.InEpsilon(t, 10*ms, r.Total.Service.Max(), 0.02)
		})
	}
}

// The time of an open loop is kept although the peer is too slow for it.
func TestWhatIsStillDueAtTheEndIsDropped(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := against(t, t.Context(), drive.Config{
				Mode: mode, Schedule: steady(1000, 10*time.Second), Duration: time.Second, InFlight: 1,
			}, echo.Shape{Delay: constant(10 * ms)})
			requireAddsUp(t, r)
			require.EqualValues(t, 1000, r.Planned)
			require.InDelta(t, 100, r.Sent, 2)
			require.LessOrEqual(t, r.Elapsed, 1020*ms)
		})
	}
}

// Five requests at one a second take five seconds, not four.
func TestScheduleLastsToItsEnd(t *testing.T) {
	for _, mode := range modes {
		for name, c := range map[string]drive.Config{
			"schedule": {Mode: mode, Schedule: steady(1, 5*time.Second), InFlight: 2},
			"duration": {Mode: mode, Schedule: steady(1, time.Hour), Duration: 5 * time.Second, InFlight: 2},
			"shorter":  {Mode: mode, Schedule: steady(0.5, time.Hour), Duration: 5 * time.Second, InFlight: 2},
		} {
			virtual(t, name+"/"+mode.String(), func(t *testing.T) {
				r := against(t, t.Context(), c, echo.Shape{Delay: constant(ms)})
				requireAddsUp(t, r)
				require.InDelta(t, 5, r.Sending.Seconds(), 0.001)
				require.EqualValues(t, map[string]int64{"schedule": 5, "duration": 5, "shorter": 3}[name], r.Sent)
			})
		}
	}
}

// Nobody answers: the sending is over in time all the same, not when the first
// call times out.
func TestEndIsNoticedWhileAllWait(t *testing.T) {
	for _, mode := range modes {
		for name, c := range map[string]drive.Config{
			"open":   {Mode: mode, Schedule: steady(100, time.Minute), Duration: time.Second, InFlight: 4, Timeout: 20 * time.Second},
			"closed": {Mode: mode, Duration: time.Second, InFlight: 4, Timeout: 20 * time.Second},
		} {
			virtual(t, name+"/"+mode.String(), func(t *testing.T) {
				r := against(t, t.Context(), c, echo.Shape{Blackhole: 1})
				requireAddsUp(t, r)
				require.InDelta(t, 1, r.Sending.Seconds(), 0.01)
				require.EqualValues(t, 4, r.Ends().Timeout)
				require.InDelta(t, 20, r.Elapsed.Seconds(), 0.1)
			})
		}
	}
}

func TestWarmUpIsCountedApart(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			stages := []plan.Stage{{For: 500 * ms, From: 100, To: 100}, {For: time.Second, From: 100, To: 300}, {For: time.Second, From: 300, To: 300}}
			r := against(t, t.Context(), drive.Config{Mode: mode, Schedule: plan.NewSchedule(stages), InFlight: 50, Warmup: 500 * ms}, echo.Shape{Delay: constant(ms)})
			requireAddsUp(t, r)
			require.EqualValues(t, 50, r.Total.Warm.OK)
			require.EqualValues(t, 500, r.Total.Measured.OK)
			require.EqualValues(t, 500, r.Total.Response.TotalCount())
			require.EqualValues(t, 500, r.MeasuredSent)
			require.InEpsilon(t, 250, r.Rate, 0.01)
			require.InEpsilon(t, 250, r.Offered, 0.01)
			require.True(t, r.Rows[0].Warm)
			require.InDelta(t, 0.5, r.Rows[0].Length, 1e-6)
			require.InDelta(t, 200, r.Rows[1].Sent, 1, "a call at the boundary may be in either row")
			require.False(t, r.Rows[1].Warm)
			var sent, ends int64
			for _, row := range r.Rows {
				sent, ends = sent+row.Sent, ends+row.Ends.Sum()
			}
			require.Equal(t, r.Sent, sent)
			require.Equal(t, r.Sent, ends)
		})
	}
}

// Whoever ends the intervals may not get to run while the warm-up ends, nor until
// the run has: what was measured is measured all the same.
func TestMeasuredPartBeginsInTime(t *testing.T) {
	for _, mode := range modes {
		for name, c := range map[string]drive.Config{
			"open":   {Schedule: steady(1000, 400*ms)},
			"closed": {Duration: 300 * ms},
		} {
			virtual(t, name+"/"+mode.String(), func(t *testing.T) {
				c.Mode, c.InFlight, c.Warmup, c.Interval = mode, 10, 100*ms, 40*ms
				c.OnRow = func(row tally.Row) {
					if row.Start == 0 {
						time.Sleep(time.Minute)
					}
				}
				r := against(t, t.Context(), c, echo.Shape{Delay: constant(5 * ms)})
				requireAddsUp(t, r)
				require.InDelta(t, 0.3, r.Sending.Seconds(), 0.006)
				require.Equal(t, r.Total.Measured.OK, r.MeasuredSent)
				require.InEpsilon(t, float64(r.MeasuredSent)/0.3, r.Rate, 0.05)
				require.InEpsilon(t, r.MeasuredSent, r.Cost.Calls, 0.07)
				require.InDelta(t, 0.3, r.Cost.Elapsed.Seconds(), 0.006)
				require.Len(t, r.Rows, 2)
				require.True(t, r.Rows[0].Warm)
				require.False(t, r.Rows[1].Warm, "what holds measured calls is no warm-up")
			})
		}
	}
}

// The ids aside: which of the engine's slots a call gets depends on the processor
// that it runs on.
func TestSameSeedSendsTheSame(t *testing.T) {
	once := func(t *testing.T, seed uint64) (params [][]byte) {
		r := against(t, t.Context(), drive.Config{Schedule: steady(500, time.Second), InFlight: 64, Payload: plan.NewPayload(20, 300, seed)}, echo.Shape{Delay: constant(ms)})
		requireAddsUp(t, r)
		for line := range bytes.Lines(r.sent) {
			params = append(params, line[bytes.Index(line, []byte(`"params"`)):])
		}
		require.Len(t, params, 500)
		return params
	}
	equal := func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
	synctest.Test(t, func(t *testing.T) {
		first := once(t, 3)
		require.True(t, equal(first, once(t, 3)))
		require.False(t, equal(first, once(t, 4)))
	})
}

// tools is a mix of one tool with params.
func tools(t *testing.T, params string) *plan.Mix {
	t.Helper()
	m, err := plan.NewMix([]plan.Entry{{Name: "a tool", Method: "tools/call", Payload: plan.FixedPayload([]byte(params)), Weight: 1, Tool: true}}, 1)
	require.NoError(t, err)
	return m
}

func TestRefusedResults(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := against(t, t.Context(), drive.Config{
				Mode: mode, Requests: 100, InFlight: 4, Mix: tools(t, `{"a":1}`),
				Refused: func(result []byte) bool { return string(result) == `{"a":1}` },
			}, echo.Shape{})
			requireAddsUp(t, r)
			require.EqualValues(t, 100, r.Ends().Error)
		})
	}
}

func TestConfigMistakes(t *testing.T) {
	for name, c := range map[string]drive.Config{
		"nobody":   {Duration: time.Second},
		"crowd":    {Duration: time.Second, InFlight: drive.InFlightMax + 1},
		"endless":  {InFlight: 1},
		"dropping": {InFlight: 1, Duration: time.Second, Drop: true},
	} {
		_, err := drive.Run(t.Context(), []drive.Link(nil), c)
		require.Error(t, err, name)
	}
	for _, text := range []string{"batch", "callback", "blocking"} {
		m, err := drive.ParseMode(text)
		require.NoError(t, err)
		require.Equal(t, text, m.String())
	}
	_, err := drive.ParseMode("x")
	require.Error(t, err)
	_, err = drive.ParseEnd("x")
	require.Error(t, err)
}
