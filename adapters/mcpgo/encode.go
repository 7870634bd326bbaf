package mcpgo

import (
	"github.com/valyala/bytebufferpool"

	"github.com/correlator-go/correlator/codec"
)

// encoded is a JSON text in a pooled buffer, or nothing.
type encoded struct{ buf *bytebufferpool.ByteBuffer }

// encode encodes params. Nil, also in a pointer or a map, is nothing.
func encode(params any) (encoded, error) {
	if params == nil {
		return encoded{}, nil
	}
	buf, err := codec.EncodeValue(params)
	if err != nil {
		return encoded{}, err
	}
	e := encoded{buf}
	if string(buf.B) == "null" {
		e.put()
		return encoded{}, nil
	}
	return e, nil
}

// B is the text, nil for nothing.
func (e encoded) B() []byte {
	if e.buf == nil {
		return nil
	}
	return e.buf.B
}

// put gives the buffer back.
func (e encoded) put() { codec.PutValue(e.buf) }
