package sourcegraph

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/valyala/bytebufferpool"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// message is a request or notification on its way out.
type message struct {
	id     json.RawMessage // as the library wrote it; nil for a notification and for what it did not write
	method string
	params []byte // a JSON text, and whatever members shall follow the params
	notif  bool
}

// request is m for the hooks.
func (m message) request() *jsonrpc2.Request {
	req := &jsonrpc2.Request{}
	// With a message around them the params and what follows them can be read.
	if req.UnmarshalJSON(codec.AppendNotification(nil, m.method, m.params)) != nil {
		req.Method = m.method
	}
	req.Notif = m.notif
	return req
}

// encoded is a JSON text in a pooled buffer, or nothing.
type encoded struct{ buf *bytebufferpool.ByteBuffer }

// encode encodes params. Nil is nothing; what encodes as null is null.
func encode(params any) (encoded, error) {
	if params == nil {
		return encoded{}, nil
	}
	buf, err := codec.EncodeValue(params)
	return encoded{buf}, err
}

func (e encoded) bytes() []byte {
	if e.buf == nil {
		return nil
	}
	return e.buf.B
}

func (e encoded) free() { codec.PutValue(e.buf) }

// outgoing reads a message that the library has written. A request's further
// members are put behind its params, which the connection writes last and as they
// are: so they become members of the request again.
func outgoing(text []byte) (m message, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return m, err
	}
	if err := json.Unmarshal(all["method"], &m.method); err != nil {
		return m, err
	}
	m.id, m.params = all["id"], all["params"]
	m.notif = m.id == nil
	for _, name := range []string{"id", "jsonrpc", "method", "params"} {
		delete(all, name)
	}
	if len(all) == 0 {
		return m, nil
	}
	if m.params == nil {
		// There must be params for members to follow. An empty object is what a
		// server takes for none.
		m.params = []byte("{}")
	}
	extended := bytes.NewBuffer(bytes.Clone(m.params))
	for name, value := range all {
		extended.WriteByte(',')
		extended.Write(codec.AppendString(nil, name))
		extended.WriteByte(':')
		extended.Write(value)
	}
	m.params = extended.Bytes()
	return m, nil
}

// incoming is a request or notification of the peer as the library has it.
func incoming(r *conn.Inbound, id jsonrpc2.ID) *jsonrpc2.Request {
	req := &jsonrpc2.Request{Method: r.Method(), ID: id, Notif: r.IsNotification()}
	if params := r.Params(); params != nil {
		text := json.RawMessage(bytes.Clone(params))
		req.Params = &text
	}
	m := r.Message()
	if !extended(m) {
		return req
	}
	// The params are not read again, and whether the id is a good one is not the
	// library's to say.
	rest := m.Frame()
	if at := m.Envelope.Params; at.Present() {
		rest = codec.AppendSplice(nil, rest, codec.Edit{Span: at, Text: []byte("null")})
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(rest, &all) != nil {
		return req
	}
	delete(all, "id")
	rest, err := json.Marshal(all)
	var other jsonrpc2.Request
	if err == nil && other.UnmarshalJSON(rest) == nil {
		req.Meta, req.ExtraFields = other.Meta, other.ExtraFields
	}
	return req
}

// extended reports whether m may have more members than the usual, by the colons
// outside its params. One in the method's name makes it look again in vain.
func extended(m *codec.Message) bool {
	usual := 2 // jsonrpc, method
	if m.Envelope.RawID.Present() {
		usual++
	}
	colons := bytes.Count(m.Frame(), []byte{':'})
	if m.Envelope.Params.Present() {
		usual++
		colons -= bytes.Count(m.Params(), []byte{':'})
	}
	return colons > usual
}

// theirID is an id as the library has it. An id that the library cannot have, one
// that is negative, no integer or null, becomes the string of its text.
func theirID(id codec.ID) jsonrpc2.ID {
	if n, ok := id.Int(); ok && n >= 0 {
		return jsonrpc2.ID{Num: uint64(n)}
	}
	if id.IsAbsent() {
		return jsonrpc2.ID{}
	}
	return jsonrpc2.ID{Str: strings.Clone(id.Text()), IsString: true}
}
