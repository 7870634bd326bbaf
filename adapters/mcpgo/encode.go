package mcpgo

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/valyala/bytebufferpool"

	"github.com/correlator-go/correlator/codec"
)

// encoded is the JSON text of params in a pooled buffer, or nothing.
type encoded struct {
	B     []byte                     // nil for nothing; it lies in one of the two
	value *bytebufferpool.ByteBuffer // of the codec
	text  *textBuffer
}

// put gives the buffer back.
func (e encoded) put() {
	codec.PutValue(e.value)
	if e.text != nil && cap(e.text.b) <= keptText {
		textBuffers.Put(e.text)
	}
}

// encode encodes params. Nil, also in a pointer or a map, is nothing.
//
// Params of a tools/call, and all those of the era that has _meta in every request,
// hold JSON text already, which encoding/json would look at twice, a byte at a time.
// They are put together from that text, looked at once by the scan of the codec.
// Whatever that does not like takes the long way, which has the last word: what is
// accepted and what the errors are is encoding/json's.
func encode(params any) (encoded, error) {
	var (
		e  encoded
		ok bool
	)
	switch p := params.(type) {
	case nil:
		return encoded{}, nil
	case mcp.CallToolParams:
		e, ok = encodeCall(&p)
	case map[string]json.RawMessage:
		e, ok = encodeMembers(p)
	}
	if ok {
		return e, nil
	}
	return encodeValue(params)
}

// encodeValue encodes anything.
func encodeValue(params any) (encoded, error) {
	buf, err := codec.EncodeValue(params)
	if err != nil {
		return encoded{}, err
	}
	e := encoded{B: buf.B, value: buf}
	if string(buf.B) == "null" {
		e.put()
		return encoded{}, nil
	}
	return e, nil
}

// encodeCall encodes the params of a tools/call; false says that it did not.
func encodeCall(p *mcp.CallToolParams) (encoded, bool) {
	arguments := p.RawArguments
	if len(arguments) == 0 {
		arguments, _ = p.Arguments.(json.RawMessage)
	}
	e := begin()
	b, err := e.text.b, error(nil)
	if len(arguments) > 0 {
		var ok bool
		if b, ok = scanned(b, arguments); !ok {
			e.put()
			return encoded{}, false
		}
	}
	start := len(b)
	if p.Meta == nil && p.Task == nil && len(p.InputResponses) == 0 && p.RequestState == "" {
		b = codec.AppendString(append(b, `{"name":`...), p.Name)
	} else if b, err = appendOthers(b, p); err == nil {
		b = b[:len(b)-1] // its brace
	}
	switch {
	case err != nil:
	case len(arguments) > 0:
		b = append(append(b, `,"arguments":`...), arguments...)
	case p.Arguments != nil:
		b, err = codec.AppendValue(append(b, `,"arguments":`...), p.Arguments)
	}
	if err != nil {
		e.put()
		return encoded{}, false
	}
	return e.done(append(b, '}'), start), true
}

// plainCall are the params of a tools/call without their MarshalJSON.
type plainCall mcp.CallToolParams

// appendOthers appends the object of all members but the arguments, of which the
// name is never left out.
func appendOthers(b []byte, p *mcp.CallToolParams) ([]byte, error) {
	others := plainCall(*p)
	others.Arguments = nil
	return codec.AppendValue(b, &others)
}

// encodeMembers encodes an object whose members are JSON text; false says that it
// did not.
func encodeMembers(members map[string]json.RawMessage) (encoded, bool) {
	if members == nil {
		return encoded{}, false
	}
	e := begin()
	b := e.text.b
	for _, text := range members {
		var ok bool
		if b, ok = scanned(b[:0], text); !ok {
			e.put()
			return encoded{}, false
		}
	}
	start := len(b)
	b = append(b, '{')
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(b) > start+1 {
			b = append(b, ',')
		}
		b = append(append(codec.AppendString(b, name), ':'), members[name]...)
	}
	return e.done(append(b, '}'), start), true
}

// textBuffers are for params that are put together. The library's pool of buffers would
// learn the size of most and let go of every longer one; these serve short and long
// ones in turn.
var textBuffers = sync.Pool{New: func() any { return new(textBuffer) }}

type textBuffer struct{ b []byte }

// keptText is the capacity, in bytes, of the largest buffer that is kept.
const keptText = 256 << 10

func begin() encoded { return encoded{text: textBuffers.Get().(*textBuffer)} }

// done makes the text that begins at start of b, which grew out of the buffer, the
// one that was encoded.
func (e encoded) done(b []byte, start int) encoded {
	e.text.b, e.B = b[:0], b[start:]
	return e
}

// scanned reports whether text is one JSON text, and nothing beside it, by the rules
// of the codec. It stands in a frame for that, at the beginning of b.
func scanned(b, text []byte) (frame []byte, ok bool) {
	const open = `{"jsonrpc":"2.0","method":"m","params":`
	b = append(append(append(b, open...), text...), '}')
	var e codec.Envelope
	err := codec.Scan(b, &e, codec.ScanOptions{Profile: codec.JSONRPC})
	return b, err == nil && int(e.Params.Off) == len(open) && int(e.Params.End) == len(b)-1
}
