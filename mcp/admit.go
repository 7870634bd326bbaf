package mcp

import (
	"bytes"
	"errors"

	"github.com/correlator-go/correlator/codec"
)

// arrival is a message on its way through admission.
type arrival struct {
	// What Received said. It is copied: with a pointer to the input in here, the
	// input would be thought to live on, and every Step would allocate it.
	exchange ExchangeID
	caller   Caller
	headers  *Headers
	at       int64

	text        []byte // the message: the frame, or a part of a batch
	env         codec.Envelope
	params      []byte
	meta        []byte // in which p.m stands
	p           callParams
	method      string // of ours
	revision    Revision
	correlation Correlation
	base        Correlation // without what _meta says: what a refused frame is known by
	batched     bool
}

// verdict is what became of a request: one of the fields is set.
type verdict struct {
	refused *refused
	result  []byte      // the reducer answers: the frame
	run     *Invocation // a handler answers
	stream  *stream     // a subscription begins
}

func refuse(r *refused) verdict { return verdict{refused: r} }

// received admits a frame, in this order: JSON, an object, jsonrpc, a response, the
// method, the id, a notification, _meta, the method's params. What fails first is
// what the peer is told.
func (x *step) received(in *Received) {
	s := x.s
	if in.Exchange <= 0 || in.Exchange > maxExchange {
		return
	}
	if in.Exchange <= s.highest {
		if _, known := s.known[in.Exchange]; known {
			return
		}
	}
	s.highest = max(s.highest, in.Exchange)
	a := arrival{exchange: in.Exchange, caller: in.Caller, headers: in.Headers, at: in.At, text: in.Frame}
	if isVisible(in.Correlation) {
		a.correlation.given = in.Correlation
	} else {
		a.correlation = madeFrom(s.options.Seed, in.Exchange)
	}
	a.base = a.correlation
	if in.Envelope != nil {
		a.env = *in.Envelope
	} else if err := codec.Scan(in.Frame, &a.env, s.scan); err != nil {
		x.unreadable(&a, err)
		return
	}
	switch {
	case a.env.Kind.IsResponse():
		x.response(&a)
	case a.env.Flags.Has(codec.FlagNullID):
		x.refuse(&a, nil, refusedInvalid)
	case a.env.Kind == codec.KindNotification:
		x.notification(&a)
		x.closed(in.Exchange, a.correlation)
	default:
		x.request(&a)
	}
}

// unreadable answers a frame that is no message.
func (x *step) unreadable(a *arrival, err error) {
	syntax, ok := errors.AsType[*codec.SyntaxError](err)
	switch {
	case !ok: // codec.ErrBatch, bare
		x.batch(a)
		return
	case errors.Is(err, codec.ErrTooDeep):
		x.refuse(a, a.env.RawID.Of(a.text), refusedDeep)
	case syntax.Code == codec.CodeInvalidRequest:
		switch answer, version := responseLike(a.text); {
		case answer && version:
			x.closed(a.exchange, a.correlation)
		case answer:
			x.refuse(a, nil, refusedInvalid) // its id is one of ours, not of theirs
		case errors.Is(err, codec.ErrDuplicateMember):
			x.refuse(a, a.env.RawID.Of(a.text), refusedTwice)
		default:
			x.refuse(a, a.env.RawID.Of(a.text), refusedInvalid)
		}
	default:
		x.refuse(a, a.env.RawID.Of(a.text), refusedParse)
	}
}

// responseLike reports whether a refused message has a result or an error, and
// whether its version is right.
func responseLike(text []byte) (answer, version bool) {
	m, _ := membersOf(bytes.TrimSpace(text))
	for name, value, ok := m.next(); ok; name, value, ok = m.next() {
		switch string(name) {
		case "result", "error":
			answer = true
		case "jsonrpc":
			version = string(value.Of(m.b)) == `"2.0"`
		}
	}
	return answer, version
}

// refuse answers with an error and closes. rawID is nil when the id could not be
// read, and the member is left out then.
func (x *step) refuse(a *arrival, rawID []byte, r *refused) {
	x.out = append(x.out, Effect{
		Kind: Write, Exchange: a.exchange, Frame: codec.AppendError(nil, rawID, r.err),
		Final: true, Code: int(r.err.Code), Refusal: r.at,
	})
	x.closed(a.exchange, a.base)
}

// methodName is the method as the peer means it: some write tools\/call.
func (a *arrival) methodName() []byte {
	m := a.env.Method
	if !a.env.Flags.Has(codec.FlagMethodEscaped) {
		return a.text[m.Off:m.End]
	}
	name, _ := stringOf(a.text[m.Off-1 : m.End+1])
	return name
}

// response takes an answer. The modern era has none from a client; in the older one
// it may be what an Ask waits for, which its caller knows.
func (x *step) response(a *arrival) {
	if x.s.session.revision == "" && a.env.Flags.Has(codec.FlagNoVersion) {
		x.refuse(a, nil, refusedInvalid)
		return
	}
	x.resolve(a)
	x.closed(a.exchange, a.correlation)
}

// resolve passes on what may settle an Ask.
func (x *step) resolve(a *arrival) {
	id := idOf(a.env.RawID.Of(a.text))
	if x.s.session.revision == "" || a.headers != nil || id.IsAbsent() {
		return
	}
	e := Effect{Kind: Resolve, Exchange: a.exchange, ID: id}
	if a.env.Kind == codec.KindError {
		e.Err = codec.ReadError(a.env.Error.Of(a.text))
		e.Err.MCP = true
	} else {
		e.Frame = a.env.Result.Of(a.text)
	}
	x.out = append(x.out, e)
}

// notification acts on one of the few notifications that mean something. It is
// never answered.
func (x *step) notification(a *arrival) {
	switch string(a.methodName()) {
	case NoteCancelled:
		if id := a.env.RequestID.Of(a.text); isID(id) {
			x.cancelled(id)
		}
	case NoteInitialized:
		x.initialized()
	}
}

// cancelled ends the request of that id without an answer. When two have it, the
// older one is meant.
func (x *step) cancelled(rawID []byte) {
	for e := x.s.live.first; e != nil; e = e.next {
		var hit *call
		e.each(func(c *call) {
			if hit == nil && sameID(c.run.rawID(), rawID) {
				hit = c
			}
		})
		if hit != nil {
			x.cancel(hit)
			x.settle(e)
			return
		}
	}
	for e := x.s.streams.last; e != nil; e = e.prev {
		if sameID(e.stream.rawID, rawID) {
			x.end(e)
			return
		}
	}
}

// sameID compares two ids by their texts: numbers digit by digit, strings decoded.
func sameID(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, ok := stringOf(a)
	y, also := stringOf(b)
	return ok && also && bytes.Equal(x, y)
}

// request admits a request and begins its exchange.
func (x *step) request(a *arrival) {
	s, rawID := x.s, a.env.RawID.Of(a.text)
	v := x.judge(a)
	if v.refused != nil {
		x.refuse(a, rawID, v.refused)
		return
	}
	x.admitted(a)
	if v.result != nil {
		x.write(a.exchange, v.result, true)
		x.closed(a.exchange, a.correlation)
		return
	}
	e := s.open(a.exchange, a.correlation)
	if v.stream != nil {
		e.stream = v.stream
		s.streams.prepend(e)
		x.write(e.id, v.stream.acknowledgement(), false)
		return
	}
	e.call.run = v.run
	s.live.append(e)
	x.start(e, v.run)
}

func (x *step) admitted(a *arrival) {
	x.out = append(x.out, Effect{
		Kind: Admitted, Exchange: a.exchange, Method: a.method, Correlation: a.correlation,
	})
}

func (x *step) start(e *exchange, v *Invocation) {
	v.id = e.nextRun()
	x.out = append(x.out, Effect{Kind: Start, Exchange: e.id, Invocation: v.id, Run: v, Correlation: e.correlation})
}
