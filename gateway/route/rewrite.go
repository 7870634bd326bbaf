package route

import (
	"github.com/correlator-go/correlator/codec"
)

// Rewrite is the edits of one message and the memory that they lie in, to be used
// again and again by one goroutine at a time. The zero Rewrite is ready for use.
type Rewrite struct {
	// Edits are those of the last call, in the order of the frame.
	Edits []codec.Edit
	text  []byte
}

func (r *Rewrite) reset() { r.Edits, r.text = r.Edits[:0], r.text[:0] }

// put adds an edit whose text begins at start of r.text. The order of the members
// in a frame is the peer's, so edits are put where they belong.
func (r *Rewrite) put(s codec.Span, start int) {
	r.add(codec.Edit{Span: s, Text: r.text[start:len(r.text):len(r.text)]})
}

func (r *Rewrite) add(e codec.Edit) {
	i := len(r.Edits)
	for i > 0 && r.Edits[i-1].Span.Off > e.Span.Off {
		i--
	}
	r.Edits = append(r.Edits, codec.Edit{})
	copy(r.Edits[i+1:], r.Edits[i:])
	r.Edits[i] = e
}

func (r *Rewrite) number(s codec.Span, n int64) {
	start := len(r.text)
	r.text = codec.IntID(n).Append(r.text)
	r.put(s, start)
}

func (r *Rewrite) echo(s codec.Span, e Echo) {
	start := len(r.text)
	r.text = e.Append(r.text)
	r.put(s, start)
}

// Request makes the edits of a client's request on its way to an upstream, where it
// goes by call, and so does the progress that it asks for.
func (r *Rewrite) Request(m *codec.Message, call int64) {
	r.reset()
	r.number(m.Envelope.RawID, call)
	if m.Envelope.Token.Present() {
		r.number(m.Envelope.Token, call)
	}
}

// Add adds edits of others, whose text is borrowed until the frame is sent.
func (r *Rewrite) Add(edits []codec.Edit) {
	for _, e := range edits {
		r.add(e)
	}
}

// Answer makes the edits of an upstream's answer on its way to the client that asked
// under id. A subscription's id in it becomes the client's, too, if it is call.
func (r *Rewrite) Answer(m *codec.Message, call int64, id Echo) {
	r.reset()
	r.echo(m.Envelope.RawID, id)
	if IsNumber(m.Subscription(), call) {
		r.echo(m.Envelope.Subscription, id)
	}
}

// Progress makes the edits of a progress notification on its way to the client whose
// request asked for it under token.
func (r *Rewrite) Progress(m *codec.Message, token Echo) {
	r.reset()
	r.echo(m.Envelope.Progress, token)
}

// Subscribed makes the edits of a notification that belongs to the subscription which
// the client began by the request id.
func (r *Rewrite) Subscribed(m *codec.Message, id Echo) {
	r.reset()
	r.echo(m.Envelope.Subscription, id)
}

// Cancelled makes the edits of a client's cancel on its way to the upstream.
func (r *Rewrite) Cancelled(m *codec.Message, call int64) {
	r.reset()
	r.number(m.Envelope.RequestID, call)
}

// CancelledFor makes the edits of a server's cancel on its way to the client that
// knows the request by n.
func (r *Rewrite) CancelledFor(m *codec.Message, n int64) {
	r.reset()
	r.number(m.Envelope.RequestID, n)
}

// Reverse makes the edits of a server's request on its way to a client, who knows it
// by n, and so does the progress that it asks for: two servers may have asked for it
// under the same token.
func (r *Rewrite) Reverse(m *codec.Message, n int64) { r.Request(m, n) }

// ReverseAnswer makes the edits of a client's answer on its way to the server.
func (r *Rewrite) ReverseAnswer(m *codec.Message, id Echo) {
	r.reset()
	r.echo(m.Envelope.RawID, id)
}

// IsNumber reports whether raw is the JSON text of n.
func IsNumber(raw []byte, n int64) bool {
	var scratch [24]byte
	return len(raw) > 0 && string(codec.IntID(n).Append(scratch[:0])) == string(raw)
}
