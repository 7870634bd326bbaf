package mcp

import (
	"errors"

	"github.com/correlator-go/correlator/codec"
)

// batch takes a frame that is an array. Revision 2025-03-26 has batches: each
// message is admitted as if it stood alone, and the answers go out in one array,
// in the order of the requests, when the last one is there. Every other revision
// refuses the whole, with one error.
func (x *step) batch(a *arrival) {
	n := 0
	for text, err := range codec.SplitBatch(a.text, x.s.scan) {
		if text == nil && err != nil {
			x.refuse(a, nil, brokenBatch(err))
			return
		}
		if n++; n > x.s.options.MaxBatch {
			break
		}
	}
	switch {
	case !x.s.session.revision.HasBatches() || a.headers != nil || x.s.options.MaxBatch == 0:
		x.refuse(a, nil, refusedBatch)
		return
	case n > x.s.options.MaxBatch:
		x.refuse(a, nil, refusedBatchSize)
		return
	}
	e := x.s.open(a.exchange, a.correlation)
	e.batch = &batch{parts: make([]call, 0, n)}
	x.s.live.append(e)
	for text, err := range codec.SplitBatch(a.text, x.s.scan) {
		part := arrival{exchange: a.exchange, caller: a.caller, at: a.at, text: text, correlation: a.correlation, batched: true}
		x.part(e, &part, err)
	}
	e.batch.whole = true
	x.settle(e)
}

// brokenBatch says why a batch cannot be taken apart: it is no JSON text, or empty.
func brokenBatch(err error) *refused {
	syntax, ok := errors.AsType[*codec.SyntaxError](err)
	switch {
	case errors.Is(err, codec.ErrTooDeep):
		return refusedDeep
	case ok && syntax.Code == codec.CodeParse:
		return refusedParse
	}
	return refusedInvalid
}

// part admits one message of a batch.
func (x *step) part(e *exchange, a *arrival, err error) {
	reply := func(rawID []byte, r *refused) {
		e.batch.parts = append(e.batch.parts, call{answer: codec.AppendError(nil, rawID, r.err)})
	}
	if err == nil {
		err = codec.Scan(a.text, &a.env, x.s.scan)
	}
	switch rawID := a.env.RawID.Of(a.text); {
	case err != nil:
		if answer, version := responseLike(a.text); answer {
			if !version {
				reply(nil, refusedInvalid)
			}
			return
		}
		reply(rawID, refusedInvalid)
	case a.env.Kind.IsResponse():
		x.resolve(a)
	case a.env.Flags.Has(codec.FlagNullID):
		reply(nil, refusedInvalid)
	case a.env.Kind == codec.KindNotification:
		x.notification(a)
	default:
		v := x.judge(a)
		if v.refused != nil {
			reply(rawID, v.refused)
			return
		}
		x.admitted(a)
		if v.result != nil {
			e.batch.parts = append(e.batch.parts, call{answer: v.result})
			return
		}
		e.batch.parts = append(e.batch.parts, call{run: v.run})
		x.start(e, v.run)
	}
}

// frame is the array of the answers, nil when there are none.
func (b *batch) frame() []byte {
	n := 2
	for i := range b.parts {
		n += len(b.parts[i].answer) + 1
	}
	frame := append(make([]byte, 0, n), '[')
	for i := range b.parts {
		if answer := b.parts[i].answer; answer != nil {
			if len(frame) > 1 {
				frame = append(frame, ',')
			}
			frame = append(frame, answer...)
		}
	}
	if len(frame) == 1 {
		return nil
	}
	return append(frame, ']')
}
