package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// system makes an engine on the clock of the bubble.
func system(t *testing.T, o options) *engine.Engine[string] {
	t.Helper()
	e, err := engine.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { requireQuiet(t, e) })
	return e
}

func TestSystemClockTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := system(t, options{})
		began := time.Now()
		c, err := e.Begin(t.Context(), call{Method: "slow"})
		require.NoError(t, err)
		_, err = c.Wait(t.Context())
		require.ErrorIs(t, err, engine.ErrTimeout)
		took := time.Since(began)
		require.GreaterOrEqual(t, took, engine.DefaultTimeout)
		require.LessOrEqual(t, took, engine.DefaultTimeout+2*time.Millisecond)
	})
}

func TestSystemClockProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := system(t, options{IdleTimeout: time.Second})
		c, err := e.Begin(nil, call{})
		require.NoError(t, err)
		id, began := c.ID(), time.Now()
		go func() {
			for range 10 {
				<-time.After(900 * time.Millisecond)
				e.Touch(id)
			}
		}()
		<-c.Done()
		o, settled := c.Outcome()
		require.True(t, settled)
		e1, ok := errors.AsType[*engine.CallError](o.Err)
		require.True(t, ok)
		require.Equal(t, engine.DeadlineIdle, e1.Deadline)
		require.GreaterOrEqual(t, time.Since(began), 10*time.Second)
		require.Less(t, time.Since(began), 10*time.Second+3*time.Millisecond)
	})
}

// The deadline of the context given to Begin is one of the call, with or without a
// Wait; the end of the context given to Wait is the end of the call.
func TestContextDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := system(t, options{})
		soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		late, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for _, c := range []struct {
			name         string
			begin, wait  context.Context
			timeout      time.Duration
			deadline     engine.Deadline
			after, least time.Duration
		}{
			{"of Begin", soon, nil, 0, engine.DeadlineContext, 2 * time.Second, 0},
			{"of Wait", nil, soon, 0, engine.DeadlineContext, 0, 0},
			{"total first", late, late, 5 * time.Second, engine.DeadlineTotal, 5 * time.Second, 5 * time.Second},
		} {
			h, err := e.Begin(c.begin, call{Timeout: c.timeout})
			require.NoError(t, err)
			began := time.Now()
			_, err = h.Wait(c.wait)
			require.ErrorIs(t, err, context.DeadlineExceeded, c.name)
			require.ErrorIs(t, err, engine.ErrTimeout)
			e1, ok := errors.AsType[*engine.CallError](err)
			require.True(t, ok)
			require.Equal(t, c.deadline, e1.Deadline, c.name)
			require.LessOrEqual(t, time.Since(began), c.after+2*time.Millisecond, c.name)
			require.GreaterOrEqual(t, e1.Budget, c.least, c.name)
		}
	})
}

func TestContextCauseIsTold(t *testing.T) {
	cause := errors.New("user went away")
	synctest.Test(t, func(t *testing.T) {
		e := system(t, options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		c, err := e.Begin(ctx, call{})
		require.NoError(t, err)
		waited := make(chan error)
		go func() {
			_, err := c.Wait(ctx)
			waited <- err
		}()
		synctest.Wait()
		cancel(cause)
		err = <-waited
		require.ErrorIs(t, err, engine.ErrCancelled)
		require.ErrorIs(t, err, cause)
		require.False(t, e.Resolve(c.ID(), "late"))
	})
}

// An outcome that is there is preferred to a context that has ended.
func TestOutcomeBeforeContext(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		c := r.begin(call{})
		require.True(t, r.Resolve(c.ID(), "v"))
		v, err := c.Wait(doneContext)
		require.NoError(t, err)
		require.Equal(t, "v", v)
		r.quiet()
	})
}

// With nothing armed nothing runs, however long; and no goroutine belongs to an
// engine, used or not.
func TestNothingRunsWhenNothingIsArmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goroutines := inBubble()
		require.Positive(t, goroutines)
		e := system(t, options{})
		require.Equal(t, goroutines, inBubble())
		for range 1000 {
			c, err := e.Begin(nil, call{Timeout: engine.NoTimeout})
			require.NoError(t, err)
			require.True(t, e.Resolve(c.ID(), "v"))
			_, err = c.Wait(nil)
			require.NoError(t, err)
		}
		kept, err := e.Begin(nil, call{Timeout: engine.NoTimeout})
		require.NoError(t, err)
		<-time.After(1000 * time.Hour)
		require.Zero(t, e.Stats().WheelRuns)
		require.Equal(t, goroutines, inBubble())

		c, err := e.Begin(nil, call{Timeout: time.Second})
		require.NoError(t, err)
		require.True(t, e.Resolve(c.ID(), "v"))
		_, err = c.Wait(nil)
		require.NoError(t, err)
		<-time.After(time.Hour)
		runs := e.Stats().WheelRuns
		require.LessOrEqual(t, runs, uint64(2), "the deadline of a settled call wakes the driver once")
		<-time.After(1000 * time.Hour)
		require.Equal(t, runs, e.Stats().WheelRuns)
		require.Equal(t, goroutines, inBubble())
		kept.Cancel(nil)
		kept.Discard()
	})
}

// inBubble counts the goroutines of the bubble; others belong to other tests.
func inBubble() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), ", synctest bubble ")
}
