package conn

import (
	"context"
	"errors"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// Request is one call of a batch for Submit.
type Request struct {
	// Method is the method called.
	Method string
	// Params is the JSON text of the params; nil leaves the member out. It is
	// copied before Submit returns.
	Params []byte
	// Options are those of Call.
	Options CallOptions
	// Notify gets the outcome, as that of Start does. Nil discards it.
	Notify func(Outcome)
}

// Submit starts many calls, as Start does each, and queues them in one piece:
// their frames stand back to back on the wire, nothing of another caller's
// between them unless they exceed SubmitPiece. It returns how many it took, in
// order; err says why not the next one. Requests and their params may be reused
// at once.
//
// It waits when Start would, going by the first request's NoWait.
func (c *Conn) Submit(ctx context.Context, requests []Request) (accepted int, err error) {
	if len(requests) == 0 {
		return 0, nil
	}
	wait := c.o.Overflow == engine.OverflowWait && !requests[0].Options.NoWait
	for accepted < len(requests) {
		group, need, err := c.group(ctx, requests[accepted:])
		if err != nil {
			return accepted, err
		}
		if !c.room.try(need) {
			if !wait {
				return accepted, unsent(group[0].Method, bufferFull)
			}
			if err := c.waitRoom(need, ctx, nil); err != nil {
				return accepted, unsent(group[0].Method, err)
			}
		}
		n, err := c.submit(ctx, group, need)
		accepted += n
		switch {
		case err == nil:
		case wait && errors.Is(err, ErrFull):
			// Wait for a slot of the table with no room held (I3).
			r := &group[n]
			if _, err := c.Start(ctx, r.Method, r.Params, r.Options, r.Notify); err != nil {
				return accepted, err
			}
			accepted++
		default:
			return accepted, err
		}
	}
	return accepted, nil
}

// group cuts off the requests that fit one node, and the room they take.
func (c *Conn) group(ctx context.Context, requests []Request) (group []Request, need int, err error) {
	if err := c.refusal(ctx, requests[0].Method); err != nil {
		return nil, 0, err
	}
	for i := range requests {
		r := &requests[i]
		n, err := c.size(r.Method, r.Params)
		if err != nil {
			if i > 0 {
				return requests[:i], need, nil
			}
			return nil, 0, err
		}
		if i > 0 && need+n > SubmitPiece {
			return requests[:i], need, nil
		}
		need += n
	}
	return requests, need, nil
}

// submit registers and queues one group, for which need bytes of room are held.
func (c *Conn) submit(ctx context.Context, group []Request, need int) (accepted int, err error) {
	n := takeNode(need)
	n.charge = need
	run := c.engine.Run(len(group))
	defer run.End()
	// One reading of the clock for all.
	options := engine.CallOptions[[]byte]{NoWait: true, Started: c.engine.Now()}
	for i := range group {
		r := &group[i]
		var id codec.ID
		if c.wantsFeed(&r.Options) {
			id, err = c.begin(ctx, r.Method, &r.Options, r.Notify, true)
		} else {
			options.Method, options.Timeout, options.IdleTimeout = r.Method, r.Options.Timeout, r.Options.IdleTimeout
			options.Notify, options.Discard = r.Notify, r.Notify == nil
			var call engine.Call[[]byte]
			if call, err = run.Begin(ctx, &options); err == nil {
				id = call.ID()
			}
		}
		if err != nil {
			break
		}
		accepted++
		if id.IsAbsent() {
			continue // the table had just been closed: the call has failed already
		}
		buf, encodeErr := c.appendRequest(n.buf, id, r.Method, r.Params, &r.Options)
		if encodeErr != nil {
			c.engine.Cancel(id, encodeErr)
			continue
		}
		n.buf = buf
		call, _ := id.Int()
		n.marks = append(n.marks, mark{call, len(buf)})
	}
	if len(n.marks) == 0 {
		putNode(n)
		c.room.release(need)
		return accepted, err
	}
	c.line.push(n, atOnce)
	return accepted, err
}
