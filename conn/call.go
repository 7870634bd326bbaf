package conn

import (
	"context"
	"errors"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// Outcome is how a call ended: Value is the JSON text of the result when Err is
// nil. Inside a callback Value is borrowed: it must be copied to be kept.
type Outcome = engine.Outcome[[]byte]

// NoTimeout in CallOptions means no deadline.
const NoTimeout = engine.NoTimeout

// CallOptions of one call. The zero value takes the connection's.
type CallOptions struct {
	// Timeout is the total time. Zero is the connection's, negative none.
	Timeout time.Duration
	// IdleTimeout is how long the call may hear nothing; progress moves it.
	// Zero is the connection's, negative none. A call that has one asks for
	// progress even without Progress, in the MCP profile.
	IdleTimeout time.Duration
	// Progress gets the call's progress, in order, before the call ends; in the
	// MCP profile only. Call runs it on the caller's goroutine, Start and Submit
	// on one that lives while there is something to deliver; so it may block.
	// What comes while it runs is coalesced: the last value wins, unless
	// ProgressBuffer says otherwise. Setting it puts _meta.progressToken into
	// params, which must then be absent or an object.
	Progress func(Progress)
	// ProgressBuffer is how many reports may wait for a slow Progress, with
	// SubscriptionBytes of params in all; beyond either the last one that waits is
	// replaced. Zero and negative mean one.
	ProgressBuffer int
	// Subscription gets the notifications that carry this call's subscription
	// id, in order, before the call ends. It runs where Progress does.
	Subscription func(Notification)
	// SubscriptionBuffer is how many notifications may wait for a slow
	// Subscription. Zero is DefaultSubscriptionBuffer, negative means one.
	SubscriptionBuffer int
	// SubscriptionBytes bounds, in bytes of methods and params, those that wait, and
	// apart from them the reports that ProgressBuffer lets wait;
	// one alone always may. Zero is DefaultSubscriptionBytes, negative 2 GiB.
	SubscriptionBytes int
	// Slow says what happens to a notification that finds the buffer full. A call
	// with an unknown value fails with *OptionError, unsent.
	Slow SlowPolicy
	// NoCancel keeps the end of the call from the peer: no cancel is sent when
	// it expires or is cancelled.
	NoCancel bool
	// NoWait fails with ErrFull instead of waiting for room, whatever Overflow
	// says. What runs inside a callback sets it under OverflowWait.
	NoWait bool
	// Into is memory for the result, for Call: a result of at most cap(Into) bytes is
	// written over it from its beginning, whatever its length is, and returned as a
	// slice of it. A longer one is allocated as if Into were nil. Call has Into until
	// it returns, with an error too; then it is the caller's again, and nothing
	// writes to it. Two calls that go on at the same time must not share it, nor may it
	// overlap params. A caller that is done with each result before its next call saves an allocation a call
	// by passing on what it got:
	//
	//	result, err = c.Call(ctx, method, params, conn.CallOptions{Into: result})
	//
	// Start and Submit lend their results and ignore it.
	Into []byte
	// ID, when not nil, is where Call puts the call's id before it waits, for logs
	// and traces. A call that is refused puts nothing, or the absent id, there. Start
	// and Submit ignore it: Start returns the id, and every Outcome has it.
	ID *codec.ID
}

// Call sends a request and waits for its answer, of which it returns the JSON
// text of the result. The caller owns that; unless o.Into took them, results of up to 256 bytes are cut
// from common blocks of at most 1 KiB, so one that is kept holds that much. params
// are copied before Call returns, whatever happens, and sent as they are: that they
// are one JSON text, an object or array in MCP, is the caller's to see to. Whether
// they are can be asked with encoding/json.Valid; [Call] encodes them.
//
// A deadline costs nothing: it comes from o or from the connection, and ctx may
// be context.Background(). A deadline of ctx counts too, and when ctx is
// cancelled the call is.
//
// Call fails with *codec.Error when the peer answered with an error, and
// otherwise with an *engine.CallError that errors.Is finds ErrTimeout,
// ErrCancelled or ErrClosed, or with ErrFull, ErrTooLarge or ErrInvalidAnswer.
// [Sent] tells whether the request may have reached the peer.
func (c *Conn) Call(ctx context.Context, method string, params []byte, o CallOptions) ([]byte, error) {
	if c.wantsFeed(&o) {
		return c.callFed(ctx, method, params, &o)
	}
	call, lent, err := c.ask(ctx, method, params, &o, nil)
	if err != nil {
		return nil, err
	}
	result, err := call.Wait(ctx)
	if lent != nil {
		lent.endLoan()
	}
	return result, err
}

// ask registers a call that will be waited for, and queues its request. It is
// apart from Call so that its frame is gone from the stack while Call waits:
// ten thousand waiting goroutines do not fit the caches.
func (c *Conn) ask(ctx context.Context, method string, params []byte, o *CallOptions, f *feed) (call engine.Call[[]byte], lent *node, err error) {
	need, err := c.need(ctx, method, params)
	if err != nil {
		return call, nil, err
	}
	held := o.NoWait
	if held && !c.room.try(need) {
		return call, nil, unsent(method, bufferFull)
	}
	call, err = c.engine.Begin(ctx, engine.CallOptions[[]byte]{
		Method: method, Timeout: o.Timeout, IdleTimeout: o.IdleTimeout, NoWait: o.NoWait, Into: o.Into,
	})
	if err != nil {
		if held {
			c.room.release(need)
		}
		return call, nil, err
	}
	id := call.ID()
	if o.ID != nil {
		*o.ID = id
	}
	if f != nil {
		c.feeds.add(id, f)
	}
	if held || c.room.try(need) || c.waitRoom(need, ctx, call.Done()) == nil {
		if f == nil && c.lends(params, o) && !id.IsAbsent() {
			return call, c.lend(id, method, params, need), nil
		}
		if err := c.send(id, method, params, o, need, waiting); err != nil {
			call.Cancel(err)
		}
	}
	return call, nil, nil
}

// callFed is Call of a call that hears more than its answer.
func (c *Conn) callFed(ctx context.Context, method string, params []byte, o *CallOptions) ([]byte, error) {
	if err := o.refuse(method); err != nil {
		return nil, err
	}
	f := c.newFeed(o, nil)
	f.signal = make(chan struct{}, 1)
	call, _, err := c.ask(ctx, method, params, o, f)
	if err != nil {
		return nil, err
	}
	return c.await(ctx, call, f)
}

// await waits for a call with a feed, which it delivers meanwhile.
func (c *Conn) await(ctx context.Context, call engine.Call[[]byte], f *feed) ([]byte, error) {
	done := call.Done()
	for waiting := true; waiting; {
		select {
		case <-f.signal:
			f.deliverAll()
		case <-ctx.Done():
			waiting = false
		case <-done:
			waiting = false
		}
	}
	value, err := call.Wait(ctx)
	f.close()
	id, _ := call.ID().Int()
	c.feeds.remove(id)
	f.deliverAll()
	return value, err
}

// Start sends a request and returns its id at once; notify gets the outcome,
// once, on the goroutine that settles the call: the reader, the driver of the
// deadlines, whoever cancels or closes. notify must not block; it may call
// Start, Submit, Cancel, TryNotify and Close. Nil discards the outcome.
//
// Exactly one of two things happens: Start returns an error, or notify is
// called. Start does not wait, except under OverflowWait without o.NoWait, when
// it waits for room under ctx. A deadline of ctx becomes the call's; that ctx
// is cancelled later does not matter to it.
func (c *Conn) Start(ctx context.Context, method string, params []byte, o CallOptions, notify func(Outcome)) (codec.ID, error) {
	need, err := c.need(ctx, method, params)
	if err != nil {
		return codec.ID{}, err
	}
	wait := c.o.Overflow == engine.OverflowWait && !o.NoWait
	if !wait && !c.room.try(need) {
		return codec.ID{}, unsent(method, bufferFull)
	}
	id, err := c.begin(ctx, method, &o, notify, !wait)
	if err != nil {
		if !wait {
			c.room.release(need)
		}
		return codec.ID{}, err
	}
	if wait && !c.room.try(need) {
		if err := c.waitRoom(need, ctx, nil); err != nil {
			c.engine.Cancel(id, err)
			return id, nil
		}
	}
	if err := c.send(id, method, params, &o, need, ofCall); err != nil {
		c.engine.Cancel(id, err)
	}
	return id, nil
}

// begin registers a call whose outcome goes to notify.
func (c *Conn) begin(ctx context.Context, method string, o *CallOptions, notify func(Outcome), noWait bool) (codec.ID, error) {
	options := engine.CallOptions[[]byte]{
		Method: method, Timeout: o.Timeout, IdleTimeout: o.IdleTimeout, Notify: notify, Discard: notify == nil, NoWait: noWait,
	}
	var f *feed
	if c.wantsFeed(o) {
		if err := o.refuse(method); err != nil {
			return codec.ID{}, err
		}
		f = c.newFeed(o, notify)
		options.Notify, options.Discard = f.settle, false
	}
	call, err := c.engine.Begin(ctx, options)
	if err != nil {
		return codec.ID{}, err
	}
	id := call.ID()
	if f != nil {
		c.feeds.add(id, f)
	}
	return id, nil
}

// need is the room that a request takes, or why it is not taken at all.
func (c *Conn) need(ctx context.Context, method string, params []byte) (int, error) {
	if err := c.refusal(ctx, method); err != nil {
		return 0, err
	}
	return c.size(method, params)
}

// refusal is why nothing is taken now.
func (c *Conn) refusal(ctx context.Context, method string) error {
	switch {
	case ctx.Err() != nil:
		return leftBefore(ctx, method)
	case c.closing.Load():
		return unsent(method, c.closedError())
	case c.draining.Load():
		return unsent(method, ErrDraining)
	}
	return nil
}

// size is the room that a request takes.
func (c *Conn) size(method string, params []byte) (int, error) {
	n := len(method) + len(params)
	if n > c.o.MaxFrameOut {
		return 0, unsent(method, ErrTooLarge)
	}
	return n + FrameOverhead, nil
}

// send encodes the request and queues it; need bytes of room are held for it,
// and given back if it cannot be encoded. A call without an id met a table that
// had just been closed: it has failed already.
func (c *Conn) send(id codec.ID, method string, params []byte, o *CallOptions, need int, u urgency) error {
	if id.IsAbsent() {
		c.room.release(need)
		return nil
	}
	call, _ := id.Int()
	if n := c.tryOpen(need); n != nil {
		buf, err := c.appendRequest(n.buf, id, method, params, o)
		n.buf = buf
		if err != nil {
			c.line.leave()
			c.room.release(need)
			return err
		}
		c.line.join(call, need, u)
		return nil
	}
	n := takeNode(need)
	n.charge, n.call = need, call
	buf, err := c.appendRequest(n.buf, id, method, params, o)
	if err != nil {
		putNode(n)
		c.room.release(need)
		return err
	}
	n.buf = buf
	c.line.push(n, u)
	return nil
}

// tryOpen gives the open batch for a frame of size bytes, if it can be had. A
// framer that is not the codec's own is user code, which runs under no lock.
func (c *Conn) tryOpen(size int) *node {
	if !c.plainFramer {
		return nil
	}
	return c.line.tryOpen(size)
}

// appendRequest appends one framed request; on an error dst comes back as it
// was.
func (c *Conn) appendRequest(dst []byte, id codec.ID, method string, params []byte, o *CallOptions) ([]byte, error) {
	if !c.wantsProgress(o) {
		return c.frameRequest(dst, id, method, params)
	}
	scratch := takeNode(len(params) + FrameOverhead)
	defer putNode(scratch)
	extended, err := codec.AppendParamsWithToken(scratch.buf, params, id)
	if err != nil {
		return dst, err
	}
	scratch.buf = extended
	return c.frameRequest(dst, id, method, extended)
}

func (c *Conn) frameRequest(dst []byte, id codec.ID, method string, params []byte) ([]byte, error) {
	if c.requestFramer != nil {
		buf, err := c.requestFramer.AppendRequest(dst, id, method, params)
		if err != nil {
			return dst, err
		}
		return buf, nil
	}
	start := len(dst)
	buf := c.o.Framer.Open(dst)
	buf = codec.AppendRequest(buf, id, method, params)
	buf, err := c.o.Framer.Seal(buf, start)
	if err != nil {
		return dst, err
	}
	return buf, nil
}

// wantsProgress reports whether the request carries a token.
func (c *Conn) wantsProgress(o *CallOptions) bool {
	if o.Progress == nil && o.IdleTimeout <= 0 && (o.IdleTimeout < 0 || c.o.IdleTimeout <= 0) {
		return false
	}
	return c.o.Profile == codec.MCP
}

// wantsFeed reports whether something is to be kept of the call beside its slot, or
// refused.
func (c *Conn) wantsFeed(o *CallOptions) bool {
	return o.Progress != nil || o.Subscription != nil || o.NoCancel || o.Slow > SlowEnd
}

// refuse checks the options of a call that has a feed.
func (o *CallOptions) refuse(method string) error {
	if o.Slow > SlowEnd {
		return unsent(method, unknown("Slow", int(o.Slow)))
	}
	return nil
}

func (c *Conn) newFeed(o *CallOptions, notify func(Outcome)) *feed {
	return &feed{
		conn: c, progress: o.Progress, notes: o.Subscription, slow: o.Slow, quiet: o.NoCancel, notify: notify,
		reports:    max(o.ProgressBuffer, 1),
		limit:      limitOr(o.SubscriptionBuffer, DefaultSubscriptionBuffer, 1),
		limitBytes: limitOr(o.SubscriptionBytes, DefaultSubscriptionBytes, 1<<31-1),
	}
}

// Cancel ends a pending call: its caller gets ErrCancelled, which unwraps to
// cause, and the peer is told if it had the request. False says that no such
// call is pending. Cancel never waits.
func (c *Conn) Cancel(id codec.ID, cause error) bool { return c.engine.Cancel(id, cause) }

var errSettled = errors.New("conn: call settled while it waited for room")
