package progress_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/progress"
)

// request is one request: sink, state and reporter.
type request struct {
	sink      *progress.Sink
	state     *progress.State
	reporter  *progress.Reporter
	cancelled atomic.Bool
}

func open(t *testing.T, l progress.Limits) *request {
	t.Helper()
	sink, err := progress.NewSink(l)
	require.NoError(t, err)
	r := &request{sink: sink, state: sink.State()}
	r.reporter, err = sink.Bind(r.context())
	require.NoError(t, err)
	require.NotNil(t, r.reporter)
	return r
}

func (r *request) context() progress.Context {
	return progress.Context{
		Request: codec.IntID(7), Token: codec.StringID("t"),
		Shape: progress.AppendNotification, Cancelled: r.cancelled.Load,
	}
}

func at(n int64) progress.Update { return progress.Update{Progress: progress.Int(n)} }

// submit takes a report out, which must succeed.
func (r *request) submit(t *testing.T, u progress.Update, answer func(error)) progress.Report {
	t.Helper()
	report, ok, err := r.reporter.Submit(u, answer)
	require.NoError(t, err)
	require.True(t, ok)
	return report
}

// round is submit, accept and reply.
func (r *request) round(u progress.Update) (string, error) {
	report, ok, err := r.reporter.Submit(u, nil)
	if err != nil || !ok {
		return "", err
	}
	frame, err := r.state.Accept(nil, report)
	report.Reply(err)
	return string(frame), err
}

func TestShape(t *testing.T) {
	r := open(t, progress.Limits{})
	for _, c := range []struct {
		update progress.Update
		want   string
	}{
		{at(0), `"progress":0`},
		{progress.Update{Progress: progress.Float(2.0)}, `"progress":2`},
		{progress.Update{Progress: progress.Float(2.5), Total: progress.Int(4)}, `"progress":2.5,"total":4`},
		{progress.Update{Progress: progress.Int(3), Total: progress.Float(-1), Message: "half \"way\"\n"}, `"progress":3,"total":-1,"message":"half \"way\"\n"`},
		{progress.Update{Progress: progress.Int(1<<53 + 1)}, `"progress":9007199254740993`},
		{progress.Update{Progress: progress.Float(1e300)}, `"progress":1e+300`},
	} {
		got, err := r.round(c.update)
		require.NoError(t, err)
		require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t",`+c.want+`}}`, got)
	}
	require.Equal(t, 6, r.state.Accepted())
	require.Zero(t, r.state.Last().Compare(progress.Float(1e300)))
}

// The token keeps its type; a number of any size keeps its digits.
func TestToken(t *testing.T) {
	for _, raw := range []string{`"1"`, `1`, `0`, `""`, `-7`, `123456789012345678901234567890`} {
		token, err := codec.ParseID([]byte(raw), codec.MCP)
		require.NoError(t, err)
		frame, err := progress.AppendNotification(nil, token, at(1))
		require.NoError(t, err)
		require.Contains(t, string(frame), `"progressToken":`+raw+`,`)
	}
}

func TestBindNothing(t *testing.T) {
	fraction, err := codec.ParseID([]byte("1.5"), codec.JSONRPC)
	require.NoError(t, err)
	full := progress.Context{Request: codec.IntID(1), Token: codec.IntID(2), Shape: progress.AppendNotification}
	for name, change := range map[string]func(*progress.Context){
		"no request id":   func(c *progress.Context) { c.Request = codec.ID{} },
		"null request id": func(c *progress.Context) { c.Request = codec.NullID() },
		"no token":        func(c *progress.Context) { c.Token = codec.ID{} },
		"null token":      func(c *progress.Context) { c.Token = codec.NullID() },
		"fraction":        func(c *progress.Context) { c.Token = fraction },
		"no shape":        func(c *progress.Context) { c.Shape = nil },
	} {
		sink, err := progress.NewSink(progress.Limits{})
		require.NoError(t, err)
		c := full
		change(&c)
		r, err := sink.Bind(c)
		require.NoError(t, err, name)
		require.Nil(t, r, name)
		// It did not use up the one bind.
		r, err = sink.Bind(full)
		require.NoError(t, err, name)
		require.NotNil(t, r, name)
	}
	r, err := (*progress.Sink)(nil).Bind(full)
	require.NoError(t, err)
	require.Nil(t, r)
}

// Without a binding a report does nothing, but its form is looked at all the same.
func TestNoOp(t *testing.T) {
	for _, r := range []*progress.Reporter{nil, {}} {
		require.False(t, r.Wanted())
		_, ok, err := r.Submit(at(1), nil)
		require.NoError(t, err)
		require.False(t, ok)
		_, _, err = r.Submit(progress.Update{}, nil)
		require.ErrorIs(t, err, progress.ErrInvalidProgress)
		r.End()
		require.Zero(t, r.Limits())
		require.True(t, r.Token().IsAbsent())
	}
}

func TestSecondBind(t *testing.T) {
	r := open(t, progress.Limits{})
	again, err := r.sink.Bind(r.context())
	require.ErrorIs(t, err, progress.ErrWrongProcess)
	require.Nil(t, again)
	_, err = r.round(at(1)) // the first is not harmed
	require.NoError(t, err)
}

func TestOneBindWins(t *testing.T) {
	sink, err := progress.NewSink(progress.Limits{})
	require.NoError(t, err)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			r, err := sink.Bind(progress.Context{Request: codec.IntID(1), Token: codec.IntID(1), Shape: progress.AppendNotification})
			if err == nil && r.Wanted() {
				won.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, won.Load())
}

// The right dies with the handler, for every copy.
func TestCopyAfterEnd(t *testing.T) {
	r := open(t, progress.Limits{})
	kept := *r.reporter
	_, ok, err := kept.Submit(at(1), nil)
	require.NoError(t, err)
	require.True(t, ok)
	r.reporter.End()
	r.reporter.End()
	_, _, err = kept.Submit(at(2), nil)
	require.ErrorIs(t, err, progress.ErrWrongProcess)
	// wrong process is looked at before closed
	r.sink.Close()
	_, _, err = kept.Submit(at(2), nil)
	require.ErrorIs(t, err, progress.ErrWrongProcess)
}

func TestInvalid(t *testing.T) {
	r := open(t, progress.Limits{MaxMessageBytes: 4})
	for name, u := range map[string]progress.Update{
		"no value":       {Total: progress.Int(1)},
		"NaN":            {Progress: progress.Float(math.NaN())},
		"+Inf":           {Progress: progress.Float(math.Inf(1))},
		"-Inf":           {Progress: progress.Float(math.Inf(-1))},
		"total NaN":      {Progress: progress.Int(1), Total: progress.Float(math.NaN())},
		"total Inf":      {Progress: progress.Int(1), Total: progress.Float(math.Inf(1))},
		"not UTF-8":      {Progress: progress.Int(1), Message: "\xff"},
		"message 5 of 4": {Progress: progress.Int(1), Message: "12345"},
		"bytes, not runes": {
			Progress: progress.Int(1), Message: "ééé",
		},
	} {
		_, ok, err := r.reporter.Submit(u, nil)
		require.ErrorIs(t, err, progress.ErrInvalidProgress, name)
		require.False(t, ok, name)
	}
	// None of them took the gate; the limit itself is allowed.
	_, err := r.round(progress.Update{Progress: progress.Int(1), Message: "1234"})
	require.NoError(t, err)
}

// Each check stands before the next: a report that breaks them all gets the first,
// and with that mended the second, and so on.
func TestOrderOfSubmit(t *testing.T) {
	r := open(t, progress.Limits{MaxMessageBytes: 2})
	held := r.submit(t, at(1), nil)
	long := progress.Update{Progress: progress.Int(2), Message: "long"}
	_, _, err := r.reporter.Submit(long, nil)
	require.ErrorIs(t, err, progress.ErrInvalidProgress, "length before busy")
	_, _, err = r.reporter.Submit(at(2), nil)
	require.ErrorIs(t, err, progress.ErrBusy)
	r.cancelled.Store(true)
	_, _, err = r.reporter.Submit(long, nil)
	require.ErrorIs(t, err, progress.ErrCancelled, "cancelled before length")
	r.sink.Close()
	_, _, err = r.reporter.Submit(long, nil)
	require.ErrorIs(t, err, progress.ErrClosed, "closed before cancelled")
	r.reporter.End()
	_, _, err = r.reporter.Submit(long, nil)
	require.ErrorIs(t, err, progress.ErrWrongProcess, "wrong process before closed")
	_, _, err = r.reporter.Submit(progress.Update{Message: "long"}, nil)
	require.ErrorIs(t, err, progress.ErrInvalidProgress, "form before everything")
	held.Reply(nil)
}

func TestOrderOfAccept(t *testing.T) {
	failing := errors.New("cannot")
	var shape error
	r := &request{}
	var err error
	r.sink, err = progress.NewSink(progress.Limits{MaxUpdates: 1})
	require.NoError(t, err)
	r.state = r.sink.State()
	c := r.context()
	c.Shape = func(dst []byte, token codec.ID, u progress.Update) ([]byte, error) {
		if shape != nil {
			return append(dst, "rubbish"...), shape
		}
		return progress.AppendNotification(dst, token, u)
	}
	r.reporter, err = r.sink.Bind(c)
	require.NoError(t, err)

	_, err = r.state.Accept(nil, progress.Report{Update: at(1)})
	require.ErrorIs(t, err, progress.ErrInvalidReport)

	shape = failing
	frame, err := r.state.Accept([]byte("before"), r.submit(t, at(5), nil))
	require.ErrorIs(t, err, progress.ErrInvalidNotification)
	require.ErrorIs(t, err, failing)
	require.Equal(t, "before", string(frame), "dst comes back as it was")
	require.Zero(t, r.state.Accepted())
	require.True(t, r.state.Last().IsZero(), "a refusal moves no mark")
}

func TestRefusalsCostNothing(t *testing.T) {
	r := open(t, progress.Limits{MaxUpdates: 2})
	_, err := r.round(at(-1))
	require.ErrorIs(t, err, progress.ErrNotIncreasing)
	_, err = r.round(at(0))
	require.NoError(t, err)
	for _, same := range []progress.Number{progress.Int(0), progress.Float(0), progress.Float(math.Copysign(0, -1)), progress.Int(-5)} {
		_, err = r.round(progress.Update{Progress: same})
		require.ErrorIs(t, err, progress.ErrNotIncreasing)
	}
	_, err = r.round(at(1))
	require.NoError(t, err)
	_, err = r.round(progress.Update{Progress: progress.Float(1)})
	require.ErrorIs(t, err, progress.ErrNotIncreasing, "looked at before the limit")
	_, err = r.round(at(2))
	require.ErrorIs(t, err, progress.ErrLimitReached)
	require.Equal(t, 2, r.state.Accepted())
}

func TestAllowNegative(t *testing.T) {
	r := open(t, progress.Limits{AllowNegative: true})
	_, err := r.round(at(-3))
	require.NoError(t, err)
	_, err = r.round(at(-3))
	require.ErrorIs(t, err, progress.ErrNotIncreasing)
}

// A timeout is the worker's: it stops waiting, and the gate stays held until the
// owner replies.
func TestTimeoutLeavesTheGateHeld(t *testing.T) {
	r := open(t, progress.Limits{})
	var answers int
	lost := r.submit(t, at(1), func(error) { answers++ })
	_, _, err := r.reporter.Submit(at(2), nil)
	require.ErrorIs(t, err, progress.ErrBusy)

	// The owner comes to it late: it is delivered and counted.
	_, err = r.state.Accept(nil, lost)
	require.NoError(t, err)
	lost.Reply(nil)
	require.Equal(t, 1, answers)
	_, err = r.round(at(1))
	require.ErrorIs(t, err, progress.ErrNotIncreasing)
	_, err = r.round(at(2))
	require.NoError(t, err)
}

// A reply of before does not open the gate of another report.
func TestReplyTwice(t *testing.T) {
	r := open(t, progress.Limits{})
	first := r.submit(t, at(1), nil)
	first.Reply(nil)
	var answers int
	second := r.submit(t, at(2), func(error) { answers++ })
	first.Reply(nil)
	_, _, err := r.reporter.Submit(at(3), nil)
	require.ErrorIs(t, err, progress.ErrBusy)
	second.Reply(nil)
	second.Reply(nil)
	require.Equal(t, 1, answers)
	progress.Report{}.Reply(nil)
}

// The gate is open when the answer comes, so the worker can report from there on.
func TestReplyOpensBeforeItAnswers(t *testing.T) {
	r := open(t, progress.Limits{})
	reported := false
	report := r.submit(t, at(1), func(error) {
		_, ok, err := r.reporter.Submit(at(2), nil)
		reported = ok && err == nil
	})
	report.Reply(nil)
	require.True(t, reported)
}

func TestCloseAndCancelAfterQueuing(t *testing.T) {
	r := open(t, progress.Limits{})
	report := r.submit(t, at(1), nil)
	r.cancelled.Store(true)
	_, err := r.state.Accept(nil, report)
	require.ErrorIs(t, err, progress.ErrCancelled)
	r.sink.Close()
	r.sink.Close()
	require.True(t, r.sink.Closed())
	_, err = r.state.Accept(nil, report)
	require.ErrorIs(t, err, progress.ErrClosed)
	_, err = r.sink.Bind(r.context())
	require.ErrorIs(t, err, progress.ErrClosed)
	(*progress.Sink)(nil).Close()
}

func TestWrongSink(t *testing.T) {
	a, b := open(t, progress.Limits{}), open(t, progress.Limits{})
	report := a.submit(t, at(1), nil)
	_, err := b.state.Accept(nil, report)
	require.ErrorIs(t, err, progress.ErrWrongSink, "another request's")
	_, err = a.sink.State().Accept(nil, report)
	require.ErrorIs(t, err, progress.ErrWrongSink, "another owner")
	_, err = new(progress.State).Accept(nil, report)
	require.ErrorIs(t, err, progress.ErrWrongSink, "no owner at all")
	_, err = a.state.Accept(nil, report)
	require.NoError(t, err)
	report.Reply(nil)
	_, err = a.state.Accept(nil, report)
	require.ErrorIs(t, err, progress.ErrWrongSink, "it was answered already")
}

func TestBadShapes(t *testing.T) {
	for name, shape := range map[string]string{
		"not JSON": `{`, "nothing": ``, "a request": `{"jsonrpc":"2.0","id":1,"method":"x"}`, "an array": `[]`, "a result": `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		sink, err := progress.NewSink(progress.Limits{})
		require.NoError(t, err)
		r := request{sink: sink, state: sink.State()}
		c := r.context()
		c.Shape = func(dst []byte, _ codec.ID, _ progress.Update) ([]byte, error) { return append(dst, shape...), nil }
		r.reporter, err = sink.Bind(c)
		require.NoError(t, err)
		_, err = r.round(at(1))
		require.ErrorIs(t, err, progress.ErrInvalidNotification, name)
	}
}

func TestOptions(t *testing.T) {
	l, err := progress.Limits{}.WithDefaults()
	require.NoError(t, err)
	require.Equal(t, progress.Limits{Timeout: 5 * time.Second, MaxUpdates: 1000, MaxMessageBytes: 4096}, l)
	for field, l := range map[string]progress.Limits{
		"Timeout": {Timeout: -1}, "MaxUpdates": {MaxUpdates: -1}, "MaxMessageBytes": {MaxMessageBytes: -2},
	} {
		_, err := progress.NewSink(l)
		bad, ok := errors.AsType[*progress.OptionError](err)
		require.True(t, ok)
		require.Equal(t, field, bad.Field)
		require.Contains(t, err.Error(), field)
	}
}

// Every error says its name, so that a log line does.
func TestErrorsNameThemselves(t *testing.T) {
	for err, want := range map[error]string{
		progress.ErrInvalidProgress: "invalid progress", progress.ErrWrongProcess: "wrong process", progress.ErrClosed: "closed",
		progress.ErrCancelled: "cancelled", progress.ErrBusy: "busy", progress.ErrTimeout: "timed out", progress.ErrInvalidReport: "invalid report",
		progress.ErrWrongSink: "wrong sink", progress.ErrNotIncreasing: "not increasing", progress.ErrLimitReached: "limit reached",
		progress.ErrInvalidNotification: "invalid notification", progress.ErrTotalExpired: "total",
	} {
		require.True(t, strings.HasPrefix(err.Error(), "progress: "))
		require.Contains(t, err.Error(), want)
	}
}

// One worker reports, the owner accepts, a third closes: no update is accepted
// twice, none after the close, under the race detector.
func TestRace(t *testing.T) {
	r := open(t, progress.Limits{MaxUpdates: 1 << 20})
	reports := make(chan progress.Report)
	var all sync.WaitGroup
	all.Go(func() {
		defer close(reports)
		for n := int64(0); ; n++ {
			answered := make(chan error, 1)
			report, ok, err := r.reporter.Submit(at(n), func(err error) { answered <- err })
			if err != nil || !ok {
				return
			}
			reports <- report
			if <-answered != nil {
				return
			}
		}
	})
	closing := make(chan struct{})
	all.Go(func() { <-closing; r.sink.Close() })
	seen := int64(-1)
	for report := range reports {
		frame, err := r.state.Accept(nil, report)
		if err == nil {
			require.NotEmpty(t, frame)
			seen++
		}
		if seen == 100 {
			close(closing)
			seen++
		}
		report.Reply(err)
	}
	all.Wait()
	require.Greater(t, seen, int64(100))
}
