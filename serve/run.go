package serve

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/progress"
)

// run is one handler at work, or waiting for a goroutine.
//
//	waiting ──crew──▶ working ──returns, panics──▶ over
//	   └─────┬──────────┘
//	         └── cancelled, timed out ──▶ over; a handler that works goes on for
//	                                      its grace, and nobody listens
//
// R1: a run becomes over once, under the connection's lock, so the reducer hears of
// exactly one end. It becomes working under no lock, by whoever runs it.
type run struct {
	conn *Connection
	inv  *mcp.Invocation
	ctx  handlerContext
	end  context.CancelCauseFunc

	sink     *progress.Sink
	state    *progress.State
	reporter *progress.Reporter

	taken time.Time // when the request, or the answer that it waited for, came in
	phase atomic.Uint32
	began time.Time // when it became working, for an observer
	came  mcp.Finished
	fin   *run // the next that came to its end, in conn.ends

	// Protected by conn.mu.
	until       time.Time   // zero is for ever
	grace       *time.Timer // runs while a signalled handler goes on
	prev, after *run        // in conn.due
	sibling     *run        // the next of the exchange
	// Protected by conn.crew.mu.
	next, before *run
	placed       bool
}

// The phases of a run.
const (
	waiting uint32 = iota
	working
	over
)

// handlerContext shows a handler when its time is up.
type handlerContext struct {
	context.Context
	run   *run
	until time.Time
}

// Deadline is when the request is answered without the handler.
func (x *handlerContext) Deadline() (time.Time, bool) {
	if x.until.IsZero() {
		return x.Context.Deadline()
	}
	return x.until, true
}

// errTimedOut is the cause of a handler's context whose time is up.
var errTimedOut = timedOutError{}

type timedOutError struct{}

func (timedOutError) Error() string        { return "serve: the handler's time is up" }
func (timedOutError) Timeout() bool        { return true }
func (timedOutError) Is(target error) bool { return target == context.DeadlineExceeded } //nolint:errorlint // it is what Is asks

// Report implements mcp.Host: it returns when the notification was written. It
// takes the connection's lock itself, so a report costs two park-and-wakes at
// most: the writer's and the handler's own.
func (r *run) Report(ctx context.Context, p mcp.Progress) error {
	if r.reporter == nil {
		_, _, err := r.reporter.Submit(updateOf(p), nil)
		return err
	}
	answer := make(chan error, 1)
	report, ok, err := r.reporter.Submit(updateOf(p), func(err error) { answer <- err })
	if err != nil || !ok {
		return err
	}
	r.conn.progressed(r, report)
	return r.await(ctx, answer)
}

// await waits for what became of a frame of the handler's.
func (r *run) await(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer: // without a timer when the refusal is there already
		return err
	default:
	}
	timer := time.NewTimer(r.conn.o.Progress.Timeout)
	defer timer.Stop()
	select {
	case err := <-answer:
		return err
	case <-timer.C:
		return progress.ErrTimeout
	case <-r.ctx.Done():
		return progress.ErrCancelled
	case <-ctx.Done():
		return errors.Join(progress.ErrCancelled, context.Cause(ctx))
	}
}

func updateOf(p mcp.Progress) progress.Update {
	u := progress.Update{Progress: progress.Float(p.Value), Message: p.Message}
	if p.Total != 0 {
		u.Total = progress.Float(p.Total)
	}
	return u
}

// Log implements mcp.Host: it returns when the line was written, or when nobody
// asked for it.
func (r *run) Log(ctx context.Context, m mcp.LogMessage) error {
	answer := make(chan error, 1)
	if err := r.conn.logged(r, m, func(err error) { answer <- err }); err != nil {
		return err
	}
	return r.await(ctx, answer)
}

// errNotWritten says that the reducer made nothing of a report.
var errNotWritten = errors.New("serve: the request takes no progress any more")

// shape makes the notification of a report that the state took, by way of the
// reducer, which has its own mark. conn.mu is held.
func (r *run) shape(dst []byte, _ codec.ID, u progress.Update) ([]byte, error) {
	c := r.conn
	effects := mcp.Step(c.state, mcp.Progressed{
		Invocation: r.inv.ID(),
		Progress:   mcp.Progress{Value: u.Progress.Float64(), Total: u.Total.Float64(), Message: u.Message},
	}, c.effects[:0])
	var frame []byte
	for i := range effects {
		if effects[i].Kind == mcp.Write {
			frame = effects[i].Frame
		}
	}
	clear(effects)
	c.effects = effects[:0]
	switch {
	case frame == nil:
		return dst, errNotWritten
	case len(dst) == 0:
		return frame, nil
	default:
		return append(dst, frame...), nil
	}
}
