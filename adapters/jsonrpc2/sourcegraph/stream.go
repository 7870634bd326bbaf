package sourcegraph

import (
	"encoding/json"
	"io"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/link"
	"github.com/correlator-go/correlator/codec"
)

// Stream is a stream of bytes and how messages are framed on it. It is an
// ObjectStream of the library as well, so what takes one takes it.
type Stream struct {
	jsonrpc2.ObjectStream
	bytes  io.ReadWriteCloser
	framer codec.Framer
}

// NewBufferedStream is jsonrpc2.NewBufferedStream. Codecs that are not the
// library's own are used as they are, one message at a time; the result is then no
// *Stream.
func NewBufferedStream(c io.ReadWriteCloser, objects jsonrpc2.ObjectCodec) jsonrpc2.ObjectStream {
	theirs := jsonrpc2.NewBufferedStream(c, objects)
	switch objects.(type) {
	case jsonrpc2.VSCodeObjectCodec:
		return &Stream{theirs, c, codec.HeaderFramer{}}
	case jsonrpc2.VarintObjectCodec:
		return &Stream{theirs, c, link.Varint{}}
	case jsonrpc2.PlainObjectCodec: //lint:ignore SA1019 deprecated, and still in use
		return &Stream{theirs, c, new(link.Values)}
	}
	return theirs
}

// NewPlainObjectStream is jsonrpc2.NewPlainObjectStream: JSON texts behind each
// other. Where the peer writes each on a line, as this one does, NewLineStream
// costs less and gets over any broken line.
func NewPlainObjectStream(c io.ReadWriteCloser) jsonrpc2.ObjectStream {
	return &Stream{jsonrpc2.NewPlainObjectStream(c), c, new(link.Values)}
}

// NewLineStream is a stream of one message a line.
func NewLineStream(c io.ReadWriteCloser) jsonrpc2.ObjectStream {
	return &Stream{jsonrpc2.NewPlainObjectStream(c), c, codec.LineFramer{}}
}

// open gives the bytes of a stream and their framing.
func open(s jsonrpc2.ObjectStream) (io.ReadWriteCloser, codec.Framer) {
	if own, ok := s.(*Stream); ok {
		return own.bytes, own.framer
	}
	return link.Carry(&objects{stream: s}), codec.LineFramer{}
}

// objects is an ObjectStream as messages: JSON texts are objects too.
type objects struct {
	stream jsonrpc2.ObjectStream
	text   json.RawMessage
}

func (o *objects) Send(message []byte) error { return o.stream.WriteObject(json.RawMessage(message)) }

func (o *objects) Recv() ([]byte, error) {
	o.text = o.text[:0]
	err := o.stream.ReadObject(&o.text)
	return o.text, err
}

func (o *objects) Close() error { return o.stream.Close() }
