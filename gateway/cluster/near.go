package cluster

import (
	"context"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// near is a way of this node to a server that lives here: both its ends, without NATS
// between them.
type near struct {
	host    *host
	owner   link.Owner
	opening *opening
	joined  chan struct{} // closed when session is set
	session link.Receiver
	gate    gate
}

// local opens a way to a host of this node.
func (c *clustered) local(ctx context.Context, h *host, owner link.Owner) (link.Upstream, error) {
	w := &near{host: h, owner: owner, opening: newOpening(owner), joined: make(chan struct{})}
	if err := h.enter((*nearGuest)(w), func(session link.Receiver) { w.session = session; close(w.joined) }); err != nil {
		return nil, &notNow{err}
	}
	return w.opening.wait(ctx, w)
}

// buffers are for frames on their way between two gateways of one process.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// bufferKeep bounds what a pooled buffer holds on to.
const bufferKeep = 64 << 10

// pass gives a frame, its edits made, to who receives on the other side.
func (w *near) pass(f *link.Frame, receive func(m *codec.Message)) error {
	if !w.gate.enter() {
		return &goneError{w.gate.reason()}
	}
	defer w.gate.leave()
	buffer := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buffer) <= bufferKeep {
			buffers.Put(buffer)
		}
	}()
	*buffer = f.AppendTo((*buffer)[:0])
	m, err := codec.Parse(*buffer, codec.ScanOptions{}) // ids between nodes are numbers, whatever the server speaks
	if err != nil {
		return err
	}
	receive(&m)
	return nil
}

// Send implements link.Upstream.
func (w *near) Send(f *link.Frame, b *link.Burst) error {
	if f.Call != 0 && !w.owner.Dispatch(f.Call) {
		return nil
	}
	return w.pass(f, func(m *codec.Message) { _ = w.session.Receive(b, m) }) // a node's numbers are no duplicates
}

// Cancel implements link.Upstream.
func (w *near) Cancel(call int64, c link.Cancel) {
	_ = w.pass(cancelFrame(call, c), func(m *codec.Message) { _ = w.session.Receive(nil, m) })
}

// End implements link.Upstream and link.Client.
func (w *near) End(why error) {
	if why == nil {
		why = ErrClosed
	}
	empty := w.gate.close(why)
	if empty == nil {
		return
	}
	go func() {
		<-empty
		<-w.joined
		w.session.Gone(why)
		w.host.left((*nearGuest)(w))
		w.opening.gone(why)
	}()
}

// nearGuest is the end at the server.
type nearGuest near

// Send implements link.Client.
func (g *nearGuest) Send(f *link.Frame, b *link.Burst) error {
	w := (*near)(g)
	return w.pass(f, func(m *codec.Message) { _ = w.owner.Receive(b, m) })
}

// Fail implements link.Relay.
func (g *nearGuest) Fail(id codec.ID, err error) {
	w := (*near)(g)
	if !w.gate.enter() {
		return // the calls have failed with the way
	}
	defer w.gate.leave()
	if call, ok := id.Int(); ok {
		w.owner.Fail(call, err)
	}
}

// Queued implements link.Client.
func (g *nearGuest) Queued() (bytes, bound int64) { return 0, g.host.n.o.WriteBuffer }

// Peer implements link.Client.
func (g *nearGuest) Peer() link.Peer {
	return link.Peer{Transport: transport, Address: g.host.n.o.Node, Identity: g.host.key.Identity}
}

// End implements link.Client.
func (g *nearGuest) End(why error) { (*near)(g).End(why) }

// yield implements guest: the node itself knows that it is being shut down.
func (g *nearGuest) yield() <-chan struct{} { return nil }

func (g *nearGuest) opened() { g.opening.opened() }
