package conn

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/invariants"
)

// Handler serves what a peer asks and notifies.
type Handler interface {
	// Handle serves one request or notification. ctx ends when the peer cancels
	// the request, when the connection ends, and when the request is done with.
	//
	// A request is answered once, by r.Reply or r.ReplyError. If Handle returns
	// before and did not call r.Detach, or panics, the answer is -32603, and so it is
	// when a detached request is dropped unanswered; Stats.Unanswered counts both.
	// What r gives out is borrowed until Handle returns, or until the answer if r was
	// detached.
	Handle(ctx context.Context, r *Inbound)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, r *Inbound)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, r *Inbound) { f(ctx, r) }

// Inbound is one request or notification from the peer. Its methods may be
// called by several goroutines.
//
//	pending ──Reply, ReplyError──▶ answered
//	   └──────cancel by the peer──▶ cancelled    MCP: no answer, ever; LSP: -32800 at once
//
// I7: one CAS leaves pending, so a request is answered at most once, and not at
// all after an MCP cancel.
type Inbound struct {
	conn    *Conn
	message codec.Message
	method  string
	id      codec.ID
	size    int             // of the frame, in bytes
	batch   *batchAnswer    // the array that the answer belongs to; nil for a frame of its own
	ctx     *requestContext // apart, so that who keeps it does not keep the request

	state    atomic.Uint32
	detached atomic.Bool
	loose    bool            // letGo is set; under serving.mu, as is letGo
	letGo    runtime.Cleanup // answers when nobody can any more; see forgotten
	// holds is 2 for a request that is neither handled nor answered, and 0 when
	// it is both, or cancelled: then its place is free.
	holds atomic.Int32
}

const (
	inboundPending uint32 = iota
	inboundAnswered
	inboundCancelled
)

// Method is the method's name, decoded.
func (r *Inbound) Method() string { return r.method }

// Params is the JSON text of params, nil when absent.
func (r *Inbound) Params() []byte { return r.message.Params() }

// ID is the request's id. It is absent in a notification, and null in a request
// that had a null id, which JSON-RPC 2.0 answers.
func (r *Inbound) ID() codec.ID { return r.id }

// IsNotification reports whether r must not be answered.
func (r *Inbound) IsNotification() bool { return r.id.IsAbsent() }

// Message is the view onto the frame, with everything the scan found in it.
func (r *Inbound) Message() *codec.Message { return &r.message }

// Conn is the connection that r came in by.
func (r *Inbound) Conn() *Conn { return r.conn }

// Cancelled reports whether the peer cancelled the request.
func (r *Inbound) Cancelled() bool { return r.state.Load() == inboundCancelled }

// Detach lets the answer come after Handle has returned, from any goroutine; it
// is called before that. The request keeps its place in MaxQueued until it is
// answered or cancelled. If it is dropped without an answer, no reference to r being
// left, its context ends and the peer gets -32603 once the garbage collector has
// found out.
func (r *Inbound) Detach() {
	if !r.detached.CompareAndSwap(false, true) {
		return
	}
	if r.conn.o.Inline {
		r.message = r.message.Detach()
	}
	r.conn.serving.loosen(r)
}

// Reply answers the request with result, the JSON text of a value; nil is null.
// It copies result, and waits for room in the write buffer until the request is
// cancelled or the connection ends; under Options.Inline it does not wait, as
// TryReply. Errors: ErrAnswered, ErrTooLarge (the peer got -32603 instead),
// ErrClosed.
func (r *Inbound) Reply(result []byte) error { return r.answer(result, nil, true) }

// ReplyError answers the request with an error; see Reply.
func (r *Inbound) ReplyError(e *codec.Error) error { return r.answer(nil, e, true) }

// TryReply is Reply that never waits: without room it fails with ErrFull and
// the request can be answered later. Callbacks use it.
func (r *Inbound) TryReply(result []byte) error { return r.answer(result, nil, false) }

// TryReplyError is ReplyError that never waits; see TryReply.
func (r *Inbound) TryReplyError(e *codec.Error) error { return r.answer(nil, e, false) }

// answer settles the request from the handler's side.
func (r *Inbound) answer(result []byte, e *codec.Error, wait bool) error {
	c := r.conn
	if r.IsNotification() || r.state.Load() != inboundPending {
		return ErrAnswered
	}
	var refused error
	if len(result)+errorBytes(e) > c.o.MaxFrameOut {
		refused, result, e = ErrTooLarge, nil, internalError("answer too large")
	}
	need := len(result) + errorBytes(e) + r.message.Envelope.RawID.Len() + FrameOverhead
	if r.batch != nil {
		need = 0 // the array takes room when it is whole
	}
	if !c.room.try(need) {
		if !wait || c.o.Inline {
			return bufferFull
		}
		if err := c.waitRoom(need, r.ctx, nil); err != nil {
			if r.Cancelled() {
				return ErrAnswered
			}
			return err
		}
	}
	if !r.state.CompareAndSwap(inboundPending, inboundAnswered) {
		c.room.release(need)
		return ErrAnswered
	}
	c.serving.forget(r)
	if r.batch != nil {
		scratch := takeNode(len(result) + errorBytes(e) + FrameOverhead)
		scratch.buf = appendAnswer(scratch.buf, r.message.RawID(), result, e)
		r.batch.add(scratch.buf, wait)
		putNode(scratch)
	} else {
		c.pushAnswer(r.message.RawID(), result, e, need)
	}
	r.drop()
	return refused
}

// cancel settles the request from the peer's side; the reader calls it.
func (r *Inbound) cancel() {
	if !r.state.CompareAndSwap(inboundPending, inboundCancelled) {
		return
	}
	r.conn.serving.forget(r)
	r.ctx.end()
	var e *codec.Error
	if r.conn.o.Profile == codec.LSP {
		e = &codec.Error{Code: codec.CodeRequestCancelled, Message: "request cancelled"}
	}
	switch {
	case r.batch != nil && e != nil:
		r.batch.add(appendAnswer(nil, r.message.RawID(), nil, e), false)
	case r.batch != nil:
		r.batch.add(nil, false)
	case e != nil:
		r.conn.answerNow(r.message.RawID(), e)
	}
	r.drop()
}

// handled notes that Handle has returned, or will not be called.
func (r *Inbound) handled() {
	if !r.IsNotification() && !r.detached.Load() && r.state.CompareAndSwap(inboundPending, inboundAnswered) {
		r.conn.serving.forget(r)
		r.conn.unanswered(r.message.RawID(), r.batch, !r.conn.o.Inline)
		r.drop()
	}
	r.drop()
}

// drop gives up one of the two holds.
func (r *Inbound) drop() {
	left := r.holds.Add(-1)
	if invariants.Enabled {
		invariants.Check(left >= 0, "I7: request %v ended twice", r.id)
	}
	if left == 0 {
		r.ctx.end()
		r.conn.serving.done(r)
	}
}

func internalError(text string) *codec.Error {
	return &codec.Error{Code: codec.CodeInternal, Message: text}
}

func errorBytes(e *codec.Error) int {
	if e == nil {
		return 0
	}
	return len(e.Message) + len(e.Data) + len(e.Raw)
}
