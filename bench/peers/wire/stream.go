package wire

import (
	"encoding/json"
	"io"

	"github.com/creachadair/jrpc2/channel"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/frameset"
)

// readSize is what one read of a socket brings.
const readSize = 64 << 10

// endless repeats bytes for ever.
type endless struct {
	bytes []byte
	at    int
}

// Read gives as much as one read of a socket would.
func (s *endless) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), readSize)], s.bytes[s.at:])
	if s.at += n; s.at == len(s.bytes) {
		s.at = 0
	}
	return n, nil
}

// framed is a stream of mixed frames, longer than any cache of branch predictions.
func framed(f codec.Framer) *endless {
	var b []byte
	for _, frame := range frameset.Make(frameset.Mix, 2, 10*frameset.Rotation) {
		start := len(b)
		b = append(f.Open(b), frame...)
		var err error
		if b, err = f.Seal(b, start); err != nil {
			panic(err) // frames of some hundred bytes are none too large
		}
	}
	return &endless{bytes: b}
}

// times repeats f for as many frames as others work through at once.
func times(f func() error) op {
	return op{frameset.Rotation, func() error {
		for range frameset.Rotation {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}}
}

// streamed is what a library does with streams.
func streamed(library, shape string) (op, bool) {
	switch {
	case library == Ours && shape == Lines:
		in, m := codec.NewReader(framed(codec.LineFramer{}), codec.ReaderOptions{}), new(codec.Message)
		return times(func() error { return in.ReadMessage(m) }), true
	case library == GoSDK && shape == Lines: // what its stdio transport does
		in := json.NewDecoder(framed(codec.LineFramer{}))
		return times(func() error {
			var raw json.RawMessage
			if err := in.Decode(&raw); err != nil {
				return err
			}
			_, err := jsonrpc.DecodeMessage(raw)
			return err
		}), true
	case library == Ours && shape == Header:
		in := codec.NewReader(framed(codec.HeaderFramer{}), codec.ReaderOptions{Framer: codec.HeaderFramer{}})
		return times(func() error { _, err := in.Next(); return err }), true
	case library == JRPC2 && shape == Header:
		in := channel.Header("")(framed(codec.HeaderFramer{}), closed{})
		return times(func() error { _, err := in.Recv(); return err }), true
	}
	return op{}, false
}

// closed is where nothing is written.
type closed struct{ io.Writer }

// Close does nothing.
func (closed) Close() error { return nil }
