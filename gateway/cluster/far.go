package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// transport is what nodes are called among the transports of clients.
const transport = "nats"

// cancelFrame is the notification that a call is over, in the client's words if it
// sent any.
func cancelFrame(call int64, c link.Cancel) *link.Frame {
	if c.Note != nil {
		return c.Note
	}
	params := codec.IntID(call).Append([]byte(`{"requestId":`))
	if c.Expired {
		params = append(params, `,"reason":"deadline exceeded"`...)
	}
	return &link.Frame{Bytes: codec.AppendNotification(nil, mcp.NoteCancelled, append(params, '}')), Class: link.Ask}
}

// attachment is what a node asks the owner of a way for, and the answer.
type attachment struct {
	// Version is that of the protocol between nodes.
	Version int
	// Node is the name of who speaks, Inbox where it listens.
	Node, Inbox string
	// Key is the way that is wanted.
	Key string `json:",omitempty"`
	// Refused is why there is none here any more.
	Refused string `json:",omitempty"`
}

// version of the protocol between nodes.
const version = 1

// far is a way of this node to a server that lives on another one.
type far struct {
	pipe    *pipe
	owner   link.Owner
	opening *opening

	mu       sync.RWMutex // guards yielding; held to read while a call is sent
	yielding bool
}

// remote opens a way to a server that the node of r owns.
func (c *clustered) remote(ctx context.Context, r *record, owner link.Owner, k link.Key) (link.Upstream, error) {
	n := c.n
	w := &far{owner: owner, opening: newOpening(owner)}
	w.pipe = &pipe{
		n: n, peer: r.Node, ready: w.opening.opened, yield: w.yield, gone: w.opening.gone,
		receive: func(m *codec.Message) { _ = owner.Receive(nil, m) },
		refused: func(m *codec.Message, err error) { owner.Refused(nil, m, err) },
		failed:  func(f *failure) { owner.Fail(f.Call, f.why()) },
	}
	if err := w.pipe.listen(); err != nil {
		return nil, &notNow{err}
	}
	request, _ := json.Marshal(attachment{Version: version, Node: n.o.Node, Inbox: w.pipe.own, Key: keyOf(c.upstream, k)}) // strings only
	limited, cancel := context.WithTimeout(ctx, n.o.fence())
	defer cancel()
	reply, err := n.nc.RequestWithContext(limited, n.subject(r.ID), request)
	if err != nil {
		w.pipe.end(err, false)
		return nil, &notNow{fmt.Errorf("cluster: node %q has the lease of %q and does not answer: %w", r.Node, c.o.Name, err)}
	}
	var a attachment
	if err := json.Unmarshal(reply.Data, &a); err != nil || a.Inbox == "" {
		w.pipe.end(ErrClosed, false)
		return nil, &notNow{fmt.Errorf("cluster: node %q has the lease of %q and refuses: %s", r.Node, c.o.Name, a.Refused)}
	}
	if !w.pipe.open(a.Inbox) {
		w.pipe.end(ErrClosed, true)
		return nil, ErrClosed
	}
	return w.opening.wait(ctx, w)
}

// Send implements link.Upstream. A call for a server that is about to be somewhere else
// waits, as for one that does not read: it goes the next way, within the time that it
// may wait.
func (w *far) Send(f *link.Frame, _ *link.Burst) error {
	if f.Call == 0 {
		return w.pipe.send(f)
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.yielding {
		return link.ErrFull
	}
	if !w.owner.Dispatch(f.Call) {
		return nil
	}
	return w.pipe.send(f)
}

// yield sends no calls any more, and says so when the last one is on its way.
func (w *far) yield() {
	w.mu.Lock()
	w.yielding = true
	w.mu.Unlock()
	w.pipe.tell(kindQuiet, "")
}

// Cancel implements link.Upstream.
func (w *far) Cancel(call int64, c link.Cancel) { _ = w.pipe.send(cancelFrame(call, c)) }

// End implements link.Upstream.
func (w *far) End(why error) { w.pipe.end(why, true) }

// attach takes another node's request for a way.
func (n *Node) attach(m *nats.Msg) {
	var a attachment
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return // nobody of ours
	}
	answer := attachment{Version: version, Node: n.o.Node}
	inbox, err := n.admit(&a)
	if err != nil {
		answer.Refused = err.Error()
	}
	answer.Inbox = inbox
	text, _ := json.Marshal(answer) // strings only
	n.out.put(letter{subject: m.Reply, data: text})
}

var (
	errNotHere = errors.New("it does not live here any more")
	errLeaving = errors.New("it is about to be started somewhere else")
)

func (n *Node) admit(a *attachment) (inbox string, err error) {
	if a.Version != version {
		return "", fmt.Errorf("this node speaks version %d of the protocol, not %d", version, a.Version)
	}
	h := n.find(a.Key)
	if h == nil {
		return "", errNotHere
	}
	g := &farGuest{host: h, joined: make(chan struct{}), silent: make(chan struct{})}
	g.pipe = &pipe{
		n: n, peer: a.Node,
		receive: func(m *codec.Message) { _ = g.receiver().Receive(nil, m) }, // a node's numbers are no duplicates
		refused: func(m *codec.Message, err error) { g.receiver().Refused(nil, m, err) },
		quiet:   g.quiet,
		gone:    g.gone,
	}
	if err := g.pipe.listen(); err != nil {
		return "", err
	}
	g.pipe.to = a.Inbox
	err = h.enter(g, func(session link.Receiver) {
		g.session = session
		close(g.joined)
	})
	if err == nil && !g.pipe.open(a.Inbox) {
		err = ErrClosed
		g.pipe.end(err, false)
	}
	if err != nil {
		return "", err
	}
	return g.pipe.own, nil
}

// farGuest is the end, at the server, of a way from another node.
type farGuest struct {
	host    *host
	pipe    *pipe
	joined  chan struct{} // closed when session is set
	session link.Receiver
	hush    sync.Once
	silent  chan struct{} // closed when no new calls will come
}

func (g *farGuest) receiver() link.Receiver {
	<-g.joined
	return g.session
}

// Send implements link.Client.
func (g *farGuest) Send(f *link.Frame, _ *link.Burst) error { return g.pipe.send(f) }

// Fail implements link.Relay.
func (g *farGuest) Fail(id codec.ID, err error) {
	if call, ok := id.Int(); ok {
		g.pipe.tell(kindFail, failureOf(call, err))
	}
}

// Queued implements link.Client.
func (g *farGuest) Queued() (bytes, bound int64) {
	return g.pipe.queued.Load(), g.pipe.n.o.WriteBuffer
}

// Peer implements link.Client.
func (g *farGuest) Peer() link.Peer {
	return link.Peer{Transport: transport, Address: g.pipe.peer, Identity: g.host.key.Identity}
}

// End implements link.Client.
func (g *farGuest) End(why error) { g.pipe.end(why, true) }

func (g *farGuest) opened() { g.pipe.tell(kindReady, "") }

func (g *farGuest) yield() <-chan struct{} {
	g.pipe.tell(kindYield, "")
	return g.silent
}

func (g *farGuest) quiet() { g.hush.Do(func() { close(g.silent) }) }

func (g *farGuest) gone(why error) {
	g.quiet()
	g.receiver().Gone(why)
	g.host.left(g)
}
