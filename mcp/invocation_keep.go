package mcp

import (
	"encoding/json"

	"github.com/correlator-go/correlator/codec"
)

// kept is where an invocation's members stand in its frame. That holds the params,
// without their _meta if that is shared with other invocations, then the request's
// id, then, if the _meta is shared, the progress token.
type kept struct {
	params    uint32 // the end of the params
	id        uint32 // the end of the id
	metaAt    uint32 // where a shared _meta belongs in the params
	shared    bool
	name      codec.Span
	arguments codec.Span
	inputs    codec.Span
	token     codec.Span
}

// keep copies what an invocation keeps of its request.
func (v *Invocation) keep(a *arrival) {
	p, in, rawID := &a.p, &v.in, a.env.RawID.Of(a.text)
	in.name, in.arguments, in.inputs, in.token = p.name, p.arguments, p.inputs, p.token
	if p.known == nil {
		frame := make([]byte, 0, len(a.params)+len(rawID))
		v.frame = append(append(frame, a.params...), rawID...)
		in.params, in.id = uint32(len(a.params)), uint32(len(v.frame))
		if p.meta.Present() {
			v.meta = &metaText{p.m, p.meta.Of(v.frame)}
		}
		return
	}
	v.meta = p.known
	token := p.token.Of(a.params)
	frame := make([]byte, 0, len(a.params)-p.meta.Len()+len(rawID)+len(token))
	frame = append(append(frame, a.params[:p.meta.Off]...), a.params[p.meta.End:]...)
	in.shared, in.metaAt, in.params = true, p.meta.Off, uint32(len(frame))
	frame = append(frame, rawID...)
	in.id = uint32(len(frame))
	v.frame = append(frame, token...)
	in.token = codec.Span{Off: in.id, End: uint32(len(v.frame))}
	for _, s := range [...]*codec.Span{&in.name, &in.arguments, &in.inputs} {
		if s.Off > p.meta.Off {
			s.Off, s.End = s.Off-uint32(p.meta.Len()), s.End-uint32(p.meta.Len())
		}
	}
}

// Meta is the JSON text of a member of the request's _meta, as it came: what the
// other methods read there is checked. It is nil when there is none of that name.
func (v *Invocation) Meta(key string) json.RawMessage {
	switch {
	case key == MetaProgressToken:
		return v.in.token.Of(v.frame) // a shared _meta has that of another request
	case v.meta == nil:
		return nil
	}
	return member(v.meta.text, key)
}

// metaMember is the text of a member of _meta, nil when it has none.
func (v *Invocation) metaMember(of func(*metaText) codec.Span) []byte {
	if v.meta == nil {
		return nil
	}
	return of(v.meta).Of(v.meta.text)
}
