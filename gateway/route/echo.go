package route

import (
	"bytes"

	"github.com/correlator-go/correlator/codec"
)

// Echo is an id or a token that a peer chose, to be given back as it was written.
// Two that are equal as ids may differ in spelling. The zero Echo is none.
type Echo struct {
	id codec.ID
	// text is what the peer wrote, if that is not how id is written here.
	text string
}

// EchoOf keeps the id of m. It allocates for strings, and for numbers that are no
// int64.
func EchoOf(m *codec.Message) Echo { return echo(m.ID(), m.RawID()) }

// EchoText keeps a JSON text: a progress token, a requestId. The error is that of
// codec.ParseID.
func EchoText(raw []byte) (Echo, error) {
	id, err := codec.ParseID(raw, codec.JSONRPC)
	if err != nil {
		return Echo{}, err
	}
	return echo(id, raw), nil
}

func echo(id codec.ID, raw []byte) Echo {
	if id.Kind() == codec.IDInt {
		return Echo{id: id} // there is one way to write it
	}
	var scratch [64]byte
	if bytes.Equal(id.Append(scratch[:0]), raw) {
		return Echo{id: id}
	}
	return Echo{id: id, text: string(raw)}
}

// ID is the value, for tables.
func (e Echo) ID() codec.ID { return e.id }

// IsNone reports whether e is the zero Echo.
func (e Echo) IsNone() bool { return e.id.IsAbsent() }

// Append appends what the peer wrote.
func (e Echo) Append(dst []byte) []byte {
	if e.text != "" {
		return append(dst, e.text...)
	}
	return e.id.Append(dst)
}
