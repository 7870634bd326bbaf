package conn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

func TestCallGetsItsOwnAnswer(t *testing.T) {
	c, p := connect(t, conn.Options{})
	a := call(background, c, "a", `{"n":1}`, conn.CallOptions{})
	first := p.read()
	b := call(background, c, "b", "", conn.CallOptions{})
	second := p.read()
	require.Equal(t, "a", first.Method)
	require.JSONEq(t, `{"n":1}`, string(first.Params))
	require.Nil(t, second.Params, "nil params are left out")
	require.NotEqual(t, first.ID, second.ID)

	p.result(second, `"B"`)
	p.result(first, `"A"`)
	require.Equal(t, reply{`"A"`, nil}, <-a)
	require.Equal(t, reply{`"B"`, nil}, <-b)
}

func TestCallFailsWithThePeersError(t *testing.T) {
	c, p := connect(t, conn.Options{})
	done := call(background, c, "m", "", conn.CallOptions{})
	p.send(errorFor(p.read().ID, `{"code":-32602,"message":"no such tool","data":{"name":"x"}}`))
	err := (<-done).err
	e, ok := errors.AsType[*codec.Error](err)
	require.True(t, ok)
	require.EqualValues(t, -32602, e.Code)
	require.Equal(t, "no such tool", e.Message)
	require.JSONEq(t, `{"name":"x"}`, string(e.Data))
	sent, known := conn.Sent(err)
	require.True(t, sent && known)
}

func TestCallTimesOutAndTellsThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		start := time.Now()
		done := call(background, c, "slow", "", conn.CallOptions{Timeout: 60 * time.Second})
		m := p.read()
		cancel := p.read()
		err := (<-done).err
		require.Equal(t, 60*time.Second, time.Since(start).Truncate(time.Second))
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		e, ok := errors.AsType[*engine.CallError](err)
		require.True(t, ok)
		require.Equal(t, "slow", e.Method)
		require.Equal(t, 60*time.Second, e.Budget)
		require.True(t, e.Sent)

		require.Equal(t, "notifications/cancelled", cancel.Method)
		require.Nil(t, cancel.ID)
		require.JSONEq(t, `{"requestId":`+string(m.ID)+`,"reason":"timeout"}`, string(cancel.Params))
		requireWorks(t, c, p)
	})
}

func TestCallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		ctx, cancel := context.WithCancelCause(background)
		done := call(ctx, c, "m", "", conn.CallOptions{})
		m := p.read()
		why := errors.New("user pressed escape")
		cancel(why)
		told := p.read()
		require.JSONEq(t, `{"requestId":`+string(m.ID)+`,"reason":"cancelled"}`, string(told.Params))
		err := (<-done).err
		require.ErrorIs(t, err, conn.ErrCancelled)
		require.ErrorIs(t, err, why)

		ctx, stop := context.WithTimeout(background, time.Second)
		defer stop()
		done = call(ctx, c, "m", "", conn.CallOptions{})
		p.read()
		p.read() // the cancel
		err = (<-done).err
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		requireWorks(t, c, p)
	})
}

func TestCallIsOverBeforeItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		stuck := call(background, c, "stuck", "", conn.CallOptions{}) // its frame blocks the writer
		synctest.Wait()
		late := call(background, c, "late", "", conn.CallOptions{Timeout: time.Second})
		err := (<-late).err
		require.ErrorIs(t, err, conn.ErrTimeout)
		sent, known := conn.Sent(err)
		require.True(t, known)
		require.False(t, sent)

		m := p.read()
		require.Equal(t, "stuck", m.Method)
		p.result(m, `1`)
		require.NoError(t, (<-stuck).err)
		requireWorks(t, c, p) // neither the late request nor a cancel of it came before
		require.EqualValues(t, 1, c.Stats().Skipped)
		require.Zero(t, c.Stats().CancelsOut)
	})
}

func TestCallRefusesWhatIsTooLarge(t *testing.T) {
	c, p := connect(t, conn.Options{MaxFrameOut: 64})
	_, err := c.Call(background, "m", make([]byte, 64), conn.CallOptions{})
	require.ErrorIs(t, err, conn.ErrTooLarge)
	sent, known := conn.Sent(err)
	require.True(t, known && !sent)
	require.ErrorIs(t, c.Notify(background, "m", make([]byte, 64)), conn.ErrTooLarge)
	requireWorks(t, c, p)
}

func TestNewlinesInParamsAreNoSecondFrame(t *testing.T) {
	c, p := connect(t, conn.Options{})
	done := call(background, c, "m", "{\n\t\"a\": \"b\",\r\n\"c\": 1}", conn.CallOptions{})
	m := p.read()
	require.JSONEq(t, `{"a":"b","c":1}`, string(m.Params))
	p.result(m, "1")
	require.NoError(t, (<-done).err)
}

func TestStartCallsBackOnce(t *testing.T) {
	c, p := connect(t, conn.Options{})
	outcomes := make(chan conn.Outcome, 1)
	id, err := c.Start(background, "m", []byte(`{}`), conn.CallOptions{}, func(o conn.Outcome) {
		o.Value = append([]byte(nil), o.Value...)
		outcomes <- o
	})
	require.NoError(t, err)
	m := p.read()
	require.Equal(t, id.String(), string(m.ID))
	p.result(m, `{"a":1}`)
	o := <-outcomes
	require.NoError(t, o.Err)
	require.Equal(t, `{"a":1}`, string(o.Value))
	require.Equal(t, id, o.ID)
	requireWorks(t, c, p)
}

func TestCancelEndsAStartedCall(t *testing.T) {
	c, p := connect(t, conn.Options{})
	outcomes := make(chan conn.Outcome, 1)
	id, err := c.Start(background, "m", nil, conn.CallOptions{}, func(o conn.Outcome) { outcomes <- o })
	require.NoError(t, err)
	p.read()
	why := errors.New("no longer wanted")
	require.True(t, c.Cancel(id, why))
	require.False(t, c.Cancel(id, why))
	require.ErrorIs(t, (<-outcomes).Err, why)
	require.Equal(t, "notifications/cancelled", p.read().Method)
	p.send(resultFor([]byte(id.String()), "1"))
	requireWorks(t, c, p)
	require.EqualValues(t, 1, c.Stats().Calls.Late)
}

func TestNoCancelKeepsTheEndFromThePeer(t *testing.T) {
	c, p := connect(t, conn.Options{})
	id, err := c.Start(background, "m", nil, conn.CallOptions{NoCancel: true}, nil)
	require.NoError(t, err)
	p.read()
	require.True(t, c.Cancel(id, nil))
	requireWorks(t, c, p)
	require.Zero(t, c.Stats().CancelsOut)
}

func TestLSPCancelsInItsOwnWords(t *testing.T) {
	c, p := connect(t, conn.Options{Profile: codec.LSP})
	id, err := c.Start(background, "m", nil, conn.CallOptions{}, nil)
	require.NoError(t, err)
	p.read()
	c.Cancel(id, nil)
	m := p.read()
	require.Equal(t, "$/cancelRequest", m.Method)
	require.JSONEq(t, `{"id":`+id.String()+`}`, string(m.Params))
}

func TestPlainJSONRPCHasNoCancel(t *testing.T) {
	c, p := connect(t, conn.Options{Profile: codec.JSONRPC})
	id, err := c.Start(background, "m", nil, conn.CallOptions{}, nil)
	require.NoError(t, err)
	p.read()
	c.Cancel(id, nil)
	requireWorks(t, c, p)
}

func TestSubmitWritesFramesBackToBack(t *testing.T) {
	ours, theirs := newTape()
	c, err := conn.New(ours, conn.Options{})
	require.NoError(t, err)
	defer c.Close()
	const n = 100
	settled := make(chan conn.Outcome, n)
	batch := make([]conn.Request, n)
	for i := range batch {
		batch[i] = conn.Request{Method: "m", Params: []byte(`{}`), Notify: func(o conn.Outcome) { settled <- o }}
	}
	accepted, err := c.Submit(background, batch)
	require.NoError(t, err)
	require.Equal(t, n, accepted)
	p := &peer{t: t, in: theirs.lines()}
	for range n {
		m := p.read()
		theirs.say(resultFor(m.ID, "1"))
	}
	for range n {
		require.NoError(t, (<-settled).Err)
	}
	require.EqualValues(t, 1, c.Stats().Writes)
	require.EqualValues(t, n, c.Stats().FramesOut)
}

func TestSubmitSaysHowManyItTook(t *testing.T) {
	c, p := connect(t, conn.Options{MaxPending: 3})
	settled := make(chan conn.Outcome, 8)
	batch := make([]conn.Request, 5)
	for i := range batch {
		batch[i] = conn.Request{Method: "m", Notify: func(o conn.Outcome) { settled <- o }}
	}
	accepted, err := c.Submit(background, batch)
	require.ErrorIs(t, err, conn.ErrFull)
	require.Equal(t, 3, accepted)
	for range 3 {
		p.result(p.read(), "1")
		require.NoError(t, (<-settled).Err)
	}
	require.Empty(t, settled)

	batch[1].Params = make([]byte, conn.DefaultMaxFrame+1)
	accepted, err = c.Submit(background, batch)
	require.ErrorIs(t, err, conn.ErrTooLarge)
	require.Equal(t, 1, accepted)
	p.result(p.read(), "1")
	require.NoError(t, (<-settled).Err)
}

func TestSubmitWaitsForRoomUnderOverflowWait(t *testing.T) {
	c, p := connect(t, conn.Options{MaxPending: 2, Overflow: engine.OverflowWait, WriteBuffer: 600})
	go p.answerAll()
	const n = 50
	settled := make(chan conn.Outcome, n)
	batch := make([]conn.Request, n)
	for i := range batch {
		batch[i] = conn.Request{Method: "m", Params: []byte(`{}`), Notify: func(o conn.Outcome) { settled <- o }}
	}
	accepted, err := c.Submit(background, batch)
	require.NoError(t, err)
	require.Equal(t, n, accepted)
	for range n {
		require.NoError(t, (<-settled).Err)
	}
}

func TestNotifyCarriesNoID(t *testing.T) { // R14
	c, p := connect(t, conn.Options{})
	done := make(chan error, 1)
	go func() { done <- c.Notify(background, "notifications/initialized", nil) }()
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, p.line())
	require.NoError(t, <-done)
	go func() { done <- c.TryNotify("n", []byte(`[1]`)) }()
	require.Equal(t, `{"jsonrpc":"2.0","method":"n","params":[1]}`, p.line())
	require.NoError(t, <-done)
}

func TestFlushWaitsForTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		require.NoError(t, c.Notify(background, "n", nil))
		flushed := make(chan error, 1)
		go func() { flushed <- c.Flush(background) }()
		synctest.Wait()
		require.Empty(t, flushed)
		p.read()
		require.NoError(t, <-flushed)

		require.NoError(t, c.Notify(background, "n", nil))
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		require.ErrorIs(t, c.Flush(ctx), context.DeadlineExceeded)
		require.NoError(t, p.link.Close())
		require.ErrorIs(t, c.Flush(background), conn.ErrClosed)
	})
}

func TestTypedCall(t *testing.T) {
	type question struct {
		Text string `json:"text"`
	}
	c, p := connect(t, conn.Options{})
	go p.answerAll()
	got, err := conn.Call[question](background, c, "echo", question{"hi"}, conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, question{"hi"}, got)

	raw, err := conn.Call[[]int](background, c, "echo", []int{1, 2}, conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, raw)

	_, err = conn.Call[int](background, c, "echo", "no number", conn.CallOptions{})
	require.ErrorIs(t, err, conn.ErrInvalidAnswer)
	sent, known := conn.Sent(err)
	require.True(t, sent && known)

	_, err = conn.Call[int](background, c, "echo", make(chan int), conn.CallOptions{})
	require.Error(t, err)
	sent, known = conn.Sent(err)
	require.True(t, known && !sent)
}

func TestCallAfterTheEnd(t *testing.T) {
	c, p := connect(t, conn.Options{})
	require.NoError(t, p.link.Close())
	<-c.Done()
	for _, err := range []error{
		second(c.Call(background, "m", nil, conn.CallOptions{})),
		second(c.Start(background, "m", nil, conn.CallOptions{}, func(conn.Outcome) { t.Error("called back as well") })),
		second(c.Submit(background, []conn.Request{{Method: "m"}})),
		c.Notify(background, "m", nil),
		c.TryNotify("m", nil),
	} {
		require.ErrorIs(t, err, conn.ErrClosed)
		require.ErrorIs(t, err, io.EOF)
		sent, known := conn.Sent(err)
		require.True(t, known && !sent)
	}
}

func second[T any](_ T, err error) error { return err }

func TestCallWithAContextThatHasEnded(t *testing.T) {
	c, p := connect(t, conn.Options{})
	why := errors.New("over")
	cancelled, cancel := context.WithCancelCause(background)
	cancel(why)
	expired, stop := context.WithDeadline(background, time.Now().Add(-time.Second))
	defer stop()
	for ctx, want := range map[context.Context][]error{cancelled: {conn.ErrCancelled, why}, expired: {conn.ErrTimeout, context.DeadlineExceeded}} {
		for _, err := range []error{
			second(c.Call(ctx, "m", nil, conn.CallOptions{})),
			second(c.Start(ctx, "m", nil, conn.CallOptions{}, func(conn.Outcome) { t.Error("called back as well") })),
			second(c.Submit(ctx, []conn.Request{{Method: "m"}})),
			c.Notify(ctx, "m", nil),
		} {
			for _, target := range want {
				require.ErrorIs(t, err, target)
			}
			sent, known := conn.Sent(err)
			require.True(t, known && !sent)
		}
	}
	requireWorks(t, c, p) // nothing was sent
}

func TestProgressNeedsParamsThatAreAnObject(t *testing.T) {
	c, p := connect(t, conn.Options{})
	_, err := c.Call(background, "m", []byte(`[1]`), conn.CallOptions{Progress: func(conn.Progress) {}})
	require.Error(t, err)
	sent, known := conn.Sent(err)
	require.True(t, known && !sent)
	requireWorks(t, c, p)
	require.Zero(t, c.Stats().Calls.Pending)
	require.Zero(t, c.Stats().QueuedBytes)
}

func TestNewRefusesBadOptions(t *testing.T) {
	_, err := conn.New(nil, conn.Options{})
	_, ok := errors.AsType[*conn.OptionError](err)
	require.True(t, ok)
	ours, _ := newTape()
	_, err = conn.New(ours, conn.Options{MaxPending: 1 << 30})
	e, ok := errors.AsType[*conn.OptionError](err)
	require.True(t, ok)
	require.Equal(t, "MaxPending", e.Field)
	for field, o := range map[string]conn.Options{
		"Profile": {Profile: 77}, "Batches": {Batches: conn.SplitBatches + 1}, "Overflow": {Overflow: engine.OverflowWait + 1},
	} {
		_, err = conn.New(ours, o)
		e, ok = errors.AsType[*conn.OptionError](err)
		require.True(t, ok, "%s: %v", field, err)
		require.Equal(t, field, e.Field)
		require.Contains(t, err.Error(), "unknown")
	}
	require.NoError(t, ours.Close(), "the stream is still the caller's")
}

// However a call is made, what to do for a slow subscriber has to be known, and
// nothing is sent.
func TestCallsRefuseBadOptions(t *testing.T) {
	c, p := connect(t, conn.Options{})
	o := conn.CallOptions{Slow: conn.SlowEnd + 1}
	_, called := c.Call(background, "m", nil, o)
	_, started := c.Start(background, "m", nil, o, func(conn.Outcome) { t.Error("nothing was started") })
	accepted, submitted := c.Submit(background, []conn.Request{{Method: "m", Options: o, Notify: func(conn.Outcome) { t.Error("nothing was submitted") }}})
	require.Zero(t, accepted)
	for _, err := range []error{called, started, submitted} {
		e, ok := errors.AsType[*conn.OptionError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, "Slow", e.Field)
		sent, known := conn.Sent(err)
		require.True(t, known && !sent)
	}
	requireWorks(t, c, p)
	require.Zero(t, c.Stats().Calls.Pending)
	require.Zero(t, c.Stats().QueuedBytes)
}

func TestFramesOfOneCallerKeepTheirOrder(t *testing.T) {
	// Notifications and calls take different ways to the writer.
	const callers = 8
	each := rounds(5000)
	ours, theirs := newTape()
	c, err := conn.New(ours, conn.Options{})
	require.NoError(t, err)
	defer c.Close()
	for caller := range callers {
		go func() {
			for i := range each {
				params := fmt.Appendf(nil, "[%d,%d]", caller, i)
				if c.Notify(background, "note", params) != nil {
					return
				}
				if i%3 == 0 {
					if _, err := c.Start(background, "started", params, conn.CallOptions{}, nil); err != nil {
						return
					}
				}
				if _, err := c.Call(background, "call", params, conn.CallOptions{}); err != nil {
					return
				}
			}
		}()
	}
	p := &peer{t: t, in: theirs.lines()}
	var next [callers]int
	var stage [callers]string
	for left := callers * each; left > 0; {
		m := p.read()
		var params [2]int
		require.NoError(t, json.Unmarshal(m.Params, &params))
		caller, i := params[0], params[1]
		require.Equal(t, next[caller], i)
		before := stage[caller]
		stage[caller] = m.Method
		switch m.Method {
		case "note":
			require.Empty(t, before)
		case "started":
			require.Equal(t, "note", before)
		case "call":
			want := "note"
			if i%3 == 0 {
				want = "started"
			}
			require.Equal(t, want, before)
			stage[caller] = ""
			next[caller]++
			left--
			theirs.say(resultFor(m.ID, "1"))
		}
	}
}
