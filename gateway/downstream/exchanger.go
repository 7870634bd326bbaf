package downstream

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// exchanger is one client over Streamable HTTP: a session of the older era, or a single
// request of the modern one. Requests come in on exchanges, and what concerns one
// goes out on its own; all else, in the older era, on the session's.
type exchanger struct {
	endpoint *Endpoint
	out      serve.Outlet
	who      link.Peer
	bound    int64

	mu       sync.Mutex // guards the fields below
	session  *gateway.Session
	open     map[codec.ID]*exchange
	over     bool
	hello    codec.ID // of the initialize that decides about the session
	revision mcp.Revision
}

var (
	_ serve.Peer     = (*exchanger)(nil)
	_ link.Client    = (*exchanger)(nil)
	_ link.Forgetter = (*exchanger)(nil)
)

// exchange is what one HTTP request asked.
type exchange struct {
	id mcp.ExchangeID
	// left is how many answers a batch waits for, and answers those that came; the
	// array goes out when all are there. Both are unused where a single request is.
	batch   bool
	tools   bool // it asked for a list of tools
	left    int
	answers [][]byte
}

// nameBytes is how much of a session's digest is its name in logs and keys.
const nameBytes = 12

// sessionName is how a session is called beyond its client: its id itself lets whoever
// knows it speak for the client.
func sessionName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:nameBytes])
}

func newExchanger(e *Endpoint, who link.Peer, session string, out serve.Outlet) *exchanger {
	if who.Alone = session == ""; !who.Alone {
		who.Session = sessionName(session)
	}
	return &exchanger{endpoint: e, who: who, out: out, bound: int64(e.o.Limits.WriteBuffer), open: make(map[codec.ID]*exchange, 1)}
}

// join begins the gateway's session; false says that there is none any more.
func (p *exchanger) join(g *gateway.Gateway) bool {
	s := g.Join(p)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session = s
	return !p.over
}

// Receive implements serve.Peer.
func (p *exchanger) Receive(in *serve.Incoming) error {
	if in.Headers != nil {
		if refusal := p.disagree(in); refusal != nil {
			p.refuse(in.Exchange, in.Message.RawID(), refusal, http.StatusBadRequest)
			return nil
		}
	}
	if p.who.Alone || isModernInitialize(in.Message) {
		if refusal, status := unfit(in.Message); refusal != nil {
			p.refuse(in.Exchange, in.Message.RawID(), refusal, status)
			return nil
		}
	}
	if in.Batch {
		return p.receiveBatch(in)
	}
	s, err := p.enter(in, &exchange{id: in.Exchange, tools: p.who.Alone && string(in.Message.Method()) == mcp.MethodListTools})
	if err != nil {
		return err
	}
	var b link.Burst
	defer b.Flush()
	err = s.Receive(&b, in.Message)
	if err == nil || len(in.IDs) == 0 {
		return nil
	}
	p.forget(in.IDs)
	return refusalOf(err)
}

// refusalOf is what an HTTP request is told of a message that went nowhere.
func refusalOf(err error) error {
	if errors.Is(err, link.ErrDuplicate) {
		return serve.ErrDuplicateID
	}
	return serve.ErrStopped
}

// enter notes what is asked, before the answer can come.
func (p *exchanger) enter(in *serve.Incoming, x *exchange) (*gateway.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil, serve.ErrStopped
	}
	if in.Repeats {
		return nil, serve.ErrDuplicateID
	}
	for _, id := range in.IDs {
		if p.open[id] != nil {
			return nil, serve.ErrDuplicateID
		}
	}
	for _, id := range in.IDs {
		p.open[id] = x
	}
	if !in.Batch && p.revision == "" && string(in.Message.Method()) == mcp.MethodInitialize {
		p.hello = in.Message.ID()
	}
	return p.session, nil
}

func (p *exchanger) forget(ids []codec.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		delete(p.open, id)
	}
}

// refuse answers in the gateway's place.
func (p *exchanger) refuse(x mcp.ExchangeID, rawID []byte, e *codec.Error, status int) {
	frame := codec.AppendError(nil, rawID, e)
	_ = p.out.Write(x, serve.Outgoing{Frame: frame, Final: true, Status: status})
	p.out.Close(x)
}

// Send implements link.Client.
func (p *exchanger) Send(f *link.Frame, _ *link.Burst) error {
	frame := f.AppendTo(nil)
	if bytes.IndexByte(frame, '\n') >= 0 || bytes.IndexByte(frame, '\r') >= 0 {
		frame = codec.AppendCompact(nil, frame) // an event is lines
	}
	if f.Class == link.Answer {
		return p.answer(f.About, frame)
	}
	p.mu.Lock()
	over := p.over
	var to mcp.ExchangeID
	if x := p.open[f.About]; x != nil {
		to = x.id
	}
	p.mu.Unlock()
	switch {
	case over:
		return link.ErrGone
	case to == 0 && (p.who.Alone || !f.About.IsAbsent()):
		return nil // it is about what is over
	}
	return p.sent(p.out.Write(to, serve.Outgoing{Frame: frame}))
}

// answer ends a request, and with the last of its requests the exchange.
func (p *exchanger) answer(id codec.ID, frame []byte) error {
	x, final := p.settle(id, frame)
	if x == nil || final == nil {
		return nil
	}
	if x.tools {
		p.learn(final)
	}
	out := serve.Outgoing{Frame: final, Final: true}
	if p.who.Alone {
		out.Status = statusIn(final)
	}
	err := p.out.Write(x.id, out)
	p.out.Close(x.id)
	return p.sent(err)
}

// Forget implements link.Forgetter: the exchange of a request that was cancelled ends, as
// it would with the answer.
func (p *exchanger) Forget(id codec.ID) {
	p.mu.Lock()
	x := p.open[id]
	delete(p.open, id)
	p.mu.Unlock()
	switch {
	case x == nil: // its exchange has ended before
	case x.batch:
		p.addAnswer(x, nil, -1)
	default:
		p.out.Close(x.id)
	}
}

// settle takes a request out of those that are open; final is what its exchange says
// now, nil if it is a batch that waits for more.
func (p *exchanger) settle(id codec.ID, frame []byte) (x *exchange, final []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x = p.open[id]; x == nil {
		return nil, nil
	}
	delete(p.open, id)
	if id == p.hello && p.revision == "" {
		p.revision = revisionIn(frame)
	}
	if !x.batch {
		return x, frame
	}
	x.answers = append(x.answers, frame)
	x.left--
	return x, x.whole()
}

// sent says what an Outlet's error means for the gateway.
func (p *exchanger) sent(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, serve.ErrSlowSubscriber):
		return link.ErrFull
	case p.who.Alone:
		return link.ErrGone
	}
	return nil // the client let go of that one stream, and of nothing else
}

// Queued implements link.Client.
func (p *exchanger) Queued() (waiting, bound int64) { return p.out.Waiting(), p.bound }

// Peer implements link.Client.
func (p *exchanger) Peer() link.Peer { return p.who }

// Revision implements serve.Peer.
func (p *exchanger) Revision() mcp.Revision {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revision
}

// Live implements serve.Peer.
func (p *exchanger) Live() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// CloseExchange implements serve.Peer: in the modern era it is all there is.
func (p *exchanger) CloseExchange(mcp.ExchangeID) { p.end(nil) }

// Close implements serve.Peer.
func (p *exchanger) Close() { p.end(nil) }

// End implements link.Client.
func (p *exchanger) End(why error) { go p.end(why) }

// end ends the session, or the request, whoever wants it to.
func (p *exchanger) end(why error) {
	p.mu.Lock()
	first, s := !p.over, p.session
	p.over = true
	var left []mcp.ExchangeID
	for _, x := range p.open {
		left = append(left, x.id)
	}
	clear(p.open)
	p.mu.Unlock()
	if !first {
		return
	}
	if s != nil {
		s.Gone(why)
	}
	for _, x := range left {
		p.out.Close(x)
	}
	p.out.Ended()
	p.endpoint.leave(p)
}
