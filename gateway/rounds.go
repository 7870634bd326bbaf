package gateway

import (
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// rounds is how a client of the older era is asked by a server of the modern one. The
// server answers a call with what it wants to know (input_required). The gateway asks
// the client, by requests of its own, while the client's call stays open, and sends the
// call again with the answers:
//
//	client                      gateway                        server
//	tools/call ───────────────▶ tools/call ──────────────────▶
//	           ◀── elicitation/create ◀──────── input_required
//	answer ───────────────────▶ tools/call + inputResponses ─▶
//	           ◀────────────────────────────────────── result
//
// A round begins when the call's answer has come and ends when the next request is
// sent, so there is one at a time.
type rounds struct {
	request codec.Message // as it was sent first
	count   int

	mu      sync.Mutex // guards the fields below
	asks    []*ask
	missing int
	answers map[string][]byte
	state   []byte
	timer   engine.Timer
}

// roundsMost is how often a server may ask anew for one call.
const roundsMost = 32

// inputRequest is one thing that a server wants to know.
type inputRequest struct {
	Method string       `json:"method"`
	Params rawParameter `json:"params"`
}

// rawParameter is a JSON text as it is.
type rawParameter []byte

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawParameter) UnmarshalJSON(text []byte) error {
	*r = append((*r)[:0], text...)
	return nil
}

// wants takes an answer that is a request for input; false says that it is none.
func (c *call) wants(result []byte) bool {
	r := c.more().rounds
	spans, err := route.Members(result, "resultType", "inputRequests", "requestState")
	if err != nil || string(spans[0].Of(result)) != `"`+mcp.ResultInputRequired+`"` {
		return false
	}
	var requests map[string]inputRequest
	if text := spans[1].Of(result); text != nil && codec.DecodeValue(text, &requests) != nil {
		return false
	}
	c.over.Store(false) // it goes on
	c.number.Store(0)
	r.count++
	r.mu.Lock()
	r.state, r.answers, r.missing, r.asks = append([]byte(nil), spans[2].Of(result)...), make(map[string][]byte), len(requests), nil
	r.mu.Unlock()
	c.more().released = c.endRound
	if !c.take() {
		return true
	}
	if r.count > roundsMost || len(requests) > asksMost {
		c.failRound(&codec.Error{Code: codec.CodeInternal, Message: "the server asks again and again"})
		return true
	}
	if len(requests) == 0 {
		c.nextRound()
		return true
	}
	b := c.backend.Load()
	if b.target.o.Timeout > 0 {
		r.mu.Lock()
		r.timer = b.target.g.clock.AfterFunc(b.target.o.Timeout, func() {
			c.failRound((&Failure{Code: CodeTimeout, Text: "the client did not answer what upstream \"" + b.target.o.Name + "\" asked", Upstream: b.target.o.Name, Deadline: "input", Elapsed: b.target.o.Timeout}).answer())
		})
		r.mu.Unlock()
	}
	keys := make([]string, 0, len(requests))
	for key := range requests {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		q := requests[key]
		if askable(q.Method) == 0 {
			c.failRound(&codec.Error{Code: codec.CodeInternal, Message: "the server asks for what no client can be asked: " + q.Method})
			return true
		}
		a := &ask{session: c.session, reply: func(m *codec.Message) { c.roundAnswered(key, m) }}
		if err := c.session.enterAsk(a); err != nil {
			c.failRound(&codec.Error{Code: codec.CodeInternal, Message: err.Error()})
			return true
		}
		r.mu.Lock()
		r.asks = append(r.asks, a)
		r.mu.Unlock()
		frame := codec.AppendRequest(nil, codec.IntID(a.number), q.Method, q.Params)
		c.session.send(nil, &link.Frame{Bytes: frame, About: c.id.ID(), Class: link.Ask})
	}
	return true
}

// unknownToOlder is what a client of the older era is told in the place of a result whose
// type it does not know, and would take for what it called for: a task, which it did not
// ask for and could not follow, or another one to come. Nil says that the result is for it.
func (c *call) unknownToOlder(m *codec.Message) *codec.Error {
	if r := c.rare.Load(); m.Kind != codec.KindResult || r == nil || r.rounds == nil {
		return nil
	}
	at, err := route.Member(m.Result(), "resultType")
	kind, _ := route.Text(at.Of(m.Result()))
	twice := errors.Is(err, codec.ErrDuplicateMember)
	if !twice && (err != nil || !at.Present() || kind == mcp.ResultComplete) {
		return nil
	}
	name, what := c.backend.Load().target.o.Name, "a result of the type "+strconv.Quote(kind)
	if twice {
		what = "a result of two types"
	}
	text := "upstream \"" + name + "\" answered " + c.method + " with " + what + ", which clients of the older era cannot take"
	return (&Failure{Code: codec.CodeInternal, Upstream: name, Text: text}).answer()
}

// roundAnswered takes one answer of the client. A refusal ends the call: the server
// knows no other word for it.
func (c *call) roundAnswered(key string, m *codec.Message) {
	if m.Kind == codec.KindError {
		c.failRound(m.Err())
		return
	}
	r := c.more().rounds
	r.mu.Lock()
	r.answers[key] = append([]byte(nil), m.Result()...)
	r.missing--
	last := r.missing == 0
	r.mu.Unlock()
	if last {
		c.nextRound()
	}
}

// nextRound sends the call again, with what the client has answered.
func (c *call) nextRound() {
	r := c.more().rounds
	c.endRound()
	r.mu.Lock()
	members := []byte(`"inputResponses":{`)
	keys := make([]string, 0, len(r.answers))
	for key := range r.answers {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for i, key := range keys {
		if i > 0 {
			members = append(members, ',')
		}
		members = append(append(codec.AppendString(members, key), ':'), r.answers[key]...)
	}
	members = append(members, '}')
	if len(r.state) > 0 {
		members = append(append(members, `,"requestState":`...), r.state...)
	}
	r.mu.Unlock()
	m, ok := withParams(&r.request, withMembers(r.request.Params(), members))
	if !ok {
		c.failRound(&codec.Error{Code: codec.CodeInvalidParams, Message: "invalid params: inputResponses and requestState are the server's"})
		return
	}
	if c.untake() {
		c.backend.Load().start(nil, c, &m, nil, nil)
	}
}

// failRound ends the call.
func (c *call) failRound(e *codec.Error) {
	if !c.finish(nil, Failed, nil, e) {
		return
	}
	for _, a := range c.forgetRound() {
		params := append(codec.IntID(a.number).Append([]byte(`{"requestId":`)), '}')
		c.session.send(nil, &link.Frame{Bytes: codec.AppendNotification(nil, mcp.NoteCancelled, params), About: c.id.ID(), Class: link.Ask})
	}
}

func (c *call) endRound() { c.forgetRound() }

// forgetRound forgets what the client was asked, and gives what it has not answered.
func (c *call) forgetRound() (open []*ask) {
	r := c.more().rounds
	r.mu.Lock()
	asks := r.asks
	r.asks = nil
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.mu.Unlock()
	for _, a := range asks {
		if a.leave() {
			open = append(open, a)
		}
	}
	return open
}
