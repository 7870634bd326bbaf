package lsp

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

const methodCancel = "$/cancelRequest"

// follower is one call whose caller has more to do than to wait for its answer.
//
//	pending ──answer──────────────────────────────────▶ ended
//	   └──ctx, timeout──▶ given up ──answer, grace──────┘
type follower struct {
	client *Client
	method string
	id     codec.ID
	stream *stream
	ended  chan conn.Outcome // holds one
	// grace is how long the answer to a cancel is waited for. With one, deadline and
	// cancel are kept here, since those of the connection end the call.
	grace time.Duration
	cause error // why the call was given up, nil before
	told  bool  // the server has had the cancel from here
}

// follow makes a call with progress or with a grace.
func (c *Client) follow(ctx context.Context, method string, params []byte, o CallOptions) (json.RawMessage, error) {
	if ctx.Err() != nil { // then this sends nothing, and fails as every call does
		_, err := c.conn.Call(ctx, method, params, conn.CallOptions{})
		return nil, err
	}
	f := &follower{client: c, method: method, ended: make(chan conn.Outcome, 1), grace: max(o.CancelGrace, 0)}
	f.stream = &stream{workDone: o.WorkDone, partial: o.Partial, limit: c.o.ProgressBytes, signal: make(chan struct{}, 1)}
	var tokens []string
	defer func() { c.streams.remove(tokens) }()
	for _, ask := range []struct {
		member string
		to     func(json.RawMessage)
	}{{memberWorkDone, o.WorkDone}, {memberPartial, o.Partial}} {
		if ask.to == nil {
			continue
		}
		token := c.streams.newToken()
		var err error
		if params, err = withToken(params, ask.member, token); err != nil {
			return nil, err
		}
		if ask.member == memberPartial {
			f.stream.partialToken = token
		}
		c.streams.add(token, f.stream)
		tokens = append(tokens, token)
	}
	outcome, err := f.run(ctx, params, o.Timeout)
	if err == nil {
		err = answered(method, outcome.Err, f.cause)
	}
	if err != nil {
		return nil, err
	}
	return outcome.Value, nil
}

// run starts the call and stays until it has ended and everything is handed out.
func (f *follower) run(ctx context.Context, params []byte, timeout time.Duration) (o conn.Outcome, err error) {
	options := conn.CallOptions{Timeout: timeout}
	starting, expired := ctx, (<-chan time.Time)(nil)
	if f.grace > 0 {
		if timeout == 0 {
			timeout = f.client.o.Conn.Timeout
		}
		if timeout == 0 {
			timeout = engine.DefaultTimeout
		}
		options = conn.CallOptions{Timeout: conn.NoTimeout, NoCancel: true}
		if timeout > 0 {
			timer := time.NewTimer(timeout)
			defer timer.Stop()
			expired = timer.C
			options.Timeout = timeout + min(f.grace, math.MaxInt64-timeout)
		}
		var stop context.CancelFunc
		starting, stop = context.WithCancel(context.WithoutCancel(ctx)) // without its deadline
		defer stop()
		defer context.AfterFunc(ctx, stop)()
	}
	if f.id, err = f.client.conn.Start(starting, f.method, params, options, f.settle); err != nil {
		return o, err
	}
	stayed := false
	defer func() {
		if !stayed { // a handler panicked or ended its goroutine: nobody waits any more
			f.end(nil)
		}
	}()
	o = f.wait(ctx, expired)
	if !f.stream.deliver() && o.Err == nil {
		o.Err = ErrSlowProgress
	}
	stayed = true
	return o, nil
}

// settle keeps the outcome, whose value is borrowed.
func (f *follower) settle(o conn.Outcome) {
	f.stream.close()
	o.Value = append(make([]byte, 0, len(o.Value)), o.Value...)
	f.ended <- o
}

// wait hands out what comes until the call has ended.
func (f *follower) wait(ctx context.Context, expired <-chan time.Time) conn.Outcome {
	done := ctx.Done()
	var over <-chan time.Time // the grace is
	for {
		select {
		case o := <-f.ended:
			return o
		case <-f.stream.signal:
			if !f.stream.deliver() {
				f.end(ErrSlowProgress)
			}
		case <-expired: // the connection's deadline comes when the grace is over
			done, expired, f.cause = nil, nil, conn.ErrTimeout
			f.tell()
		case <-done:
			done, expired, f.cause = nil, nil, context.Cause(ctx)
			if f.grace == 0 {
				f.end(f.cause)
				continue
			}
			f.tell()
			grace := time.NewTimer(f.grace)
			defer grace.Stop()
			over = grace.C
		case <-over:
			f.end(f.cause)
		}
	}
}

// end ends the call, unless it has ended.
func (f *follower) end(cause error) {
	if f.client.conn.Cancel(f.id, cause) {
		f.tell()
	}
}

// tell sends the cancel that the connection was told not to send.
func (f *follower) tell() {
	if f.grace == 0 || f.told {
		return
	}
	f.told = true
	params := append(f.id.Append([]byte(`{"id":`)), '}')
	_ = f.client.conn.TryNotify(methodCancel, params) // without room the grace runs out
}
