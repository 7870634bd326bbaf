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

// stream is a library at work on a stream.
type stream struct{ library, shape string }

// streams are what libraries do with streams.
var streams = map[stream]func() op{
	{Ours, Lines}: func() op {
		in, m := codec.NewReader(framed(codec.LineFramer{}), codec.ReaderOptions{}), new(codec.Message)
		return times(func() error { return in.ReadMessage(m) })
	},
	{GoSDK, Lines}: func() op { // what its stdio transport does
		in := json.NewDecoder(framed(codec.LineFramer{}))
		return times(func() error {
			var raw json.RawMessage
			if err := in.Decode(&raw); err != nil {
				return err
			}
			_, err := jsonrpc.DecodeMessage(raw)
			return err
		})
	},
	{Ours, Header}: func() op {
		in := codec.NewReader(framed(codec.HeaderFramer{}), codec.ReaderOptions{Framer: codec.HeaderFramer{}})
		return times(func() error { _, err := in.Next(); return err })
	},
	{JRPC2, Header}: func() op {
		in := channel.Header("")(framed(codec.HeaderFramer{}), closed{})
		return times(func() error { _, err := in.Recv(); return err })
	},
}

// closed is where nothing is written.
type closed struct{ io.Writer }

// Close does nothing.
func (closed) Close() error { return nil }
