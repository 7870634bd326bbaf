package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/progress"
	"github.com/correlator-go/correlator/serve"
)

// reporting registers a tool that runs f.
func reporting(s *serve.Server, f func(ctx context.Context, r *mcp.Request) error) {
	s.RegisterTool(mcp.ServerTool{
		Tool: mcp.Tool{Name: "reporting", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Handle: func(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			if err := f(ctx, r); err != nil {
				return mcp.ToolFailure(err.Error()), nil
			}
			return mcp.ToolText("done"), nil
		},
	})
}

func report(value float64) mcp.Progress { return mcp.Progress{Value: value} }

// Every error that a report can come to, at the handler.
func TestReportErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{Progress: progress.Limits{MaxUpdates: 2, MaxMessageBytes: 3}})
		defer r.conn.Close()
		var kept *mcp.Request
		reporting(r.s, func(ctx context.Context, q *mcp.Request) error {
			kept = q
			return errors.Join(
				is(q.Report(ctx, report(math.NaN())), progress.ErrInvalidProgress),
				is(q.Report(ctx, report(math.Inf(1))), progress.ErrInvalidProgress),
				is(q.Report(ctx, mcp.Progress{Value: 1, Message: "long"}), progress.ErrInvalidProgress),
				is(q.Report(ctx, mcp.Progress{Value: 1, Message: "\xff"}), progress.ErrInvalidProgress),
				is(q.Report(ctx, report(-1)), progress.ErrNotIncreasing),
				is(q.Report(ctx, report(1)), nil),
				is(q.Report(ctx, report(1)), progress.ErrNotIncreasing),
				is(q.Report(ctx, report(2)), nil),
				is(q.Report(ctx, report(3)), progress.ErrLimitReached),
			)
		})
		x := r.send(call("1", "reporting", `{}`, `"progressToken":7`))
		synctest.Wait()
		frames := r.out.of(x)
		require.Len(t, frames, 3)
		require.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`, frames[0])
		require.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":2}}`, frames[1])
		require.Equal(t, "done", parse(t, frames[2]).text(t))
		// The right to report has died with the handler.
		require.ErrorIs(t, kept.Report(context.Background(), report(9)), progress.ErrWrongProcess)
	})
}

// is joins what a report should not have come to.
func is(got, want error) error {
	if errors.Is(got, want) {
		return nil
	}
	return fmt.Errorf("%w instead of %w", got, want)
}

// Without a token a report does nothing.
func TestReportWithoutToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{})
		defer r.conn.Close()
		x := r.send(call("1", "progress", `{"n":5}`))
		require.Equal(t, "reported", parse(t, r.only(x)).text(t))
		reporting(r.s, func(ctx context.Context, q *mcp.Request) error {
			return errors.Join(
				is(q.Report(ctx, report(math.NaN())), progress.ErrInvalidProgress),
				is(q.Report(ctx, mcp.Progress{Value: 1, Total: math.Inf(1)}), progress.ErrInvalidProgress),
				is(q.Report(ctx, mcp.Progress{Value: 1, Message: "\xff"}), progress.ErrInvalidProgress),
				is(q.Report(ctx, report(-1)), nil),
			)
		})
		x = r.send(call("2", "reporting", `{}`))
		require.Equal(t, "done", parse(t, r.only(x)).text(t), "the form counts with nobody listening")
	})
}

// A handler that goes on behind the end of its request is told that: reports are
// closed before it is signalled, and the right to report is its own until it returns.
func TestReportBehindTheSignal(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"cancelled": func(r *rig) { r.send(cancelled("1")) },
		"timed out": func(*rig) { pass(time.Second) },
		"closed":    func(r *rig) { r.conn.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, serve.Options{Timeout: time.Second})
			defer r.conn.Close()
			began, ended := make(chan struct{}), make(chan error, 1)
			reporting(r.s, func(ctx context.Context, q *mcp.Request) error {
				close(began)
				<-ctx.Done()
				ended <- is(q.Report(ctx, report(1)), progress.ErrClosed)
				return nil
			})
			r.send(call("1", "reporting", `{}`, `"progressToken":7`))
			<-began
			end(r)
			require.NoError(t, <-ended, name)
		})
	}
}

// A report returns when its bytes were written, so a burst waits for the peer.
func TestReportIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newServer(t, newTools(), serve.Options{}))
		p.send(call("1", "progress", `{"n":128}`, `"progressToken":"p"`))
		for i := range 128 {
			synctest.Wait() // the pipe holds one frame at most, nothing is queued behind it
			a := parse(t, p.receive())
			require.EqualValues(t, i+1, a.Params.Progress)
		}
		require.Equal(t, "reported", parse(t, p.receive()).text(t))
		require.NoError(t, p.hangUp())
	})
}

// A report that nobody takes times out, and holds the gate until it is written.
func TestReportTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{Progress: progress.Limits{Timeout: time.Second}})
		defer r.conn.Close()
		block := r.out.hold()
		next := make(chan struct{})
		reporting(r.s, func(ctx context.Context, q *mcp.Request) error {
			began := time.Now()
			err := is(q.Report(ctx, report(1)), progress.ErrTimeout)
			if took := time.Since(began); took != time.Second {
				err = errors.Join(err, fmt.Errorf("after %v", took))
			}
			err = errors.Join(err, is(q.Report(ctx, report(2)), progress.ErrBusy))
			block <- struct{}{}
			<-next
			return errors.Join(err, is(q.Report(ctx, report(1)), progress.ErrNotIncreasing))
		})
		x := r.send(call("1", "reporting", `{}`, `"progressToken":7`))
		pass(2 * time.Second)
		synctest.Wait()
		close(block)
		close(next)
		synctest.Wait()
		frames := r.out.of(x)
		require.Len(t, frames, 2, "what timed out was delivered all the same")
		require.Equal(t, "done", parse(t, frames[1]).text(t))
	})
}

// A cancel ends a report that waits, and what comes after is refused.
func TestReportCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{})
		defer r.conn.Close()
		block := r.out.hold()
		ended := make(chan error, 1)
		reporting(r.s, func(ctx context.Context, q *mcp.Request) error {
			ended <- is(q.Report(ctx, report(1)), progress.ErrCancelled)
			return nil
		})
		x := r.send(call("1", "reporting", `{}`, `"progressToken":7`))
		synctest.Wait()
		r.send(cancelled("1"))
		require.NoError(t, <-ended)
		close(block)
		synctest.Wait()
		require.Len(t, r.out.of(x), 1, "what was on its way; no answer")
	})
}

// Log lines are written if the request asked for their level.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{})
		defer r.conn.Close()
		reporting(r.s, func(ctx context.Context, q *mcp.Request) error {
			return errors.Join(q.Log(ctx, mcp.LevelDebug, "l", "quiet"), q.Log(ctx, mcp.LevelError, "l", "loud"))
		})
		x := r.send(call("1", "reporting", `{}`, `"io.modelcontextprotocol/logLevel":"warning"`))
		synctest.Wait()
		frames := r.out.of(x)
		require.Len(t, frames, 2)
		require.Contains(t, frames[0], `"loud"`)
		require.Equal(t, "done", parse(t, frames[1]).text(t))
		x = r.send(call("2", "reporting", `{}`))
		require.Equal(t, "done", parse(t, r.only(x)).text(t))
	})
}
