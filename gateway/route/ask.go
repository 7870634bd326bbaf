package route

import (
	"github.com/correlator-go/correlator/codec"
)

// Ask makes one edit more, after Request: the request, which asks for no progress,
// asks for it under call. False says that it cannot, since its params are no object or
// their _meta is none. Other edits may lie in the params as well.
func (r *Rewrite) Ask(m *codec.Message, call int64) bool {
	e := &m.Envelope
	if !e.Params.Present() {
		at := e.Method.End + 1
		start := len(r.text)
		r.text = append(r.text, `,"params":{"_meta":{"progressToken":`...)
		r.text = append(codec.IntID(call).Append(r.text), "}}"...)
		r.put(codec.Span{Off: at, End: at}, start)
		return true
	}
	old := m.Params()
	start := len(r.text)
	text, err := codec.AppendParamsWithToken(r.text, old, codec.IntID(call))
	if err != nil {
		return false
	}
	r.text = text
	// What differs is one place: all before it and all behind it is as it was.
	made := text[start:]
	before := 0
	for before < len(old) && old[before] == made[before] {
		before++
	}
	behind := 0
	for behind < len(old)-before && old[len(old)-1-behind] == made[len(made)-1-behind] {
		behind++
	}
	end := len(made) - behind
	r.add(codec.Edit{Span: codec.Span{Off: e.Params.Off + uint32(before), End: e.Params.End - uint32(behind)}, Text: made[before:end:end]})
	return true
}
