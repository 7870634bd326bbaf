package mcp

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/correlator-go/correlator/codec"
)

// finished answers a request with what its handler came to. A handler that is over
// is not heard again.
func (x *step) finished(id InvocationID, o *Outcome) {
	e, c := x.s.liveCall(id)
	if c == nil || c.asks != nil {
		return
	}
	switch o.status {
	case Succeeded, ToolFailed:
		x.answer(e, c, Effect{Frame: codec.AppendResult(nil, c.run.rawID(), o.body)})
	case InputRequested:
		x.inputRequested(e, c, o.input)
	case Failed:
		x.fail(e, c, o.err)
	default:
		x.fail(e, c, failInternal)
	}
}

// failed answers a request whose handler crashed or is out of time.
func (x *step) failed(id InvocationID, err *codec.Error) {
	e, c := x.s.liveCall(id)
	if c == nil {
		return
	}
	if c.asks != nil { // it waits for the client, not for a handler
		x.out = append(x.out, Effect{Kind: Cancel, Exchange: e.id, Invocation: id})
	}
	x.fail(e, c, err)
}

func (x *step) fail(e *exchange, c *call, err *codec.Error) {
	if err == nil {
		err = failInternal
	}
	x.answer(e, c, Effect{Frame: codec.AppendError(nil, c.run.rawID(), err), Code: int(err.Code)})
}

// answer is the end of a call: its answer goes out, or to its batch.
func (x *step) answer(e *exchange, c *call, w Effect) {
	x.s.unhold(c.run.id)
	c.run, c.asks = nil, nil
	if e.batch != nil {
		c.answer = w.Frame
	} else {
		w.Kind, w.Exchange, w.Final = Write, e.id, true
		x.out = append(x.out, w)
	}
	x.settle(e)
}

// settle closes an exchange when nothing of it is open. A batch is answered then,
// with one array of the answers that there are.
func (x *step) settle(e *exchange) {
	if e.batch != nil && !e.batch.whole {
		return
	}
	open := false
	e.each(func(*call) { open = true })
	if open {
		return
	}
	if e.batch != nil {
		if frame := e.batch.frame(); frame != nil {
			x.write(e.id, frame, true)
		}
	}
	x.end(e)
}

// progressed writes a report that is asked for and rises.
func (x *step) progressed(id InvocationID, p *Progress) {
	e, c := x.s.liveCall(id)
	if c == nil || !c.run.in.token.Present() {
		return
	}
	finite := !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) && !math.IsNaN(p.Total) && !math.IsInf(p.Total, 0)
	if !finite || p.Value < 0 || c.reported && p.Value <= c.latest {
		return
	}
	c.latest, c.reported = p.Value, true
	params := append([]byte(`{"progressToken":`), c.run.in.token.Of(c.run.frame)...)
	params = appendFloat(append(params, `,"progress":`...), p.Value)
	if p.Total != 0 {
		params = appendFloat(append(params, `,"total":`...), p.Total)
	}
	params = append(appendOptional(params, "message", p.Message), '}')
	x.write(e.id, codec.AppendNotification(nil, NoteProgress, params), false)
}

// maxWhole is the largest number up to which every whole float is written as an
// integer.
const maxWhole = 1 << 53

// appendFloat writes a finite number, a whole one without a fraction.
func appendFloat(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) <= maxWhole {
		return appendNumber(dst, int64(f))
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// logged writes a log line that the client asked for: the request did, or in the
// older era the session, which hears everything until it says otherwise.
func (x *step) logged(id InvocationID, m *LogMessage) {
	e, c := x.s.liveCall(id)
	if c == nil || m.Level < LevelDebug || m.Level > LevelEmergency {
		return
	}
	level := c.run.level
	if !c.run.isModern() {
		if level = x.s.session.level; !x.s.server.d.Logging {
			return
		}
	} else if level == LevelNone {
		return
	}
	if m.Level < level {
		return
	}
	params := codec.AppendString([]byte(`{"level":`), m.Level.String())
	params = appendOptional(params, "logger", m.Logger)
	params = append(params, `,"data":`...)
	if m.Data == nil {
		params = append(params, "null"...)
	} else {
		var err error
		if params, err = appendAny(params, m.Data); err != nil {
			return // no JSON text
		}
	}
	x.write(e.id, codec.AppendNotification(nil, NoteMessage, append(params, '}')), false)
}

// inputRequested asks the client: in its answer in the modern era, with requests
// of our own in the older one.
func (x *step) inputRequested(e *exchange, c *call, in *InputRequired) {
	v := c.run
	declared, missing := readCapabilities(v.rawCapabilities()), capabilities(0)
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(in.Requests)) {
		if needs := in.Requests[key].needs(); needs&^declared != 0 {
			missing |= needs
		} else {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 && missing != 0 {
		if missing &^= cannot; missing == 0 { // no client can do what was asked
			x.fail(e, c, failInternal)
		} else {
			x.fail(e, c, missingCapability(v.Revision(), missing).err)
		}
		return
	}
	if v.isModern() {
		x.answer(e, c, Effect{Frame: codec.AppendResult(nil, v.rawID(), v.inputResult(keys, in))})
		return
	}
	x.askClient(e, c, keys, in)
}

// inputResult is the result of the modern era that asks for input.
func (v *Invocation) inputResult(keys []string, in *InputRequired) []byte {
	result := []byte(`{"resultType":"input_required"`)
	for i, key := range keys {
		if i == 0 {
			result = append(result, `,"inputRequests":{`...)
		} else {
			result = append(result, ',')
		}
		r := in.Requests[key]
		result = append(codec.AppendString(result, key), `:{"method":`...)
		result = codec.AppendString(result, r.Method)
		result = append(append(append(result, `,"params":`...), r.object()...), '}')
	}
	if len(keys) > 0 {
		result = append(result, '}')
	}
	result = appendMember(result, "requestState", v.server.sealRound(v, in.State))
	return append(v.server.appendMeta(result, nil), '}')
}
