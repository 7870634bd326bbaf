package codec_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/frameset"
)

// outgoing is a request as libraries that encode whole messages hold it.
type outgoing struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      int64           `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// payloads are params of about n bytes, many different ones.
func payloads(n int) [][]byte {
	out := make([][]byte, 64)
	for i := range out {
		out[i] = fmt.Appendf(nil, `{"name":"search","arguments":{"query":"%s","n":%d}}`, strings.Repeat("abcdefgh", max(0, n-50)/8), 1000+i)
	}
	if n >= 1<<20 {
		out = out[:4]
	}
	return out
}

// rivals are other ways to encode a request; sonic is added where it builds.
var encodeRivals = []struct {
	name   string
	encode func(outgoing) ([]byte, error)
}{
	{"encoding-json", func(o outgoing) ([]byte, error) { return json.Marshal(o) }},
}

// BenchmarkEncode writes a request around params that are JSON already, beside
// rivals, and beside the copy of as many bytes.
func BenchmarkEncode(b *testing.B) {
	for _, size := range []int{192, 16 << 10, 1 << 20} {
		params := payloads(size)
		method := "tools/call"
		frame := codec.AppendRequest(nil, codec.IntID(123456), method, params[0])
		dst := make([]byte, 0, 2*size)
		run := func(name string, encode func(i int)) {
			b.Run(strconv.Itoa(size)+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(frame)))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					encode(i % len(params))
				}
			})
		}
		run("append", func(i int) { dst = codec.AppendRequest(dst[:0], codec.IntID(int64(100_000+i)), method, params[i]) })
		run("copy", func(i int) { dst = append(append(dst[:0], frame[:len(frame)-len(params[0])]...), params[i]...) })
		for _, rival := range encodeRivals {
			run(rival.name, func(i int) {
				text, err := rival.encode(outgoing{"2.0", int64(100_000 + i), method, params[i]})
				if err != nil {
					b.Fatal(err)
				}
				frameSink = text
			})
		}
	}
}

// incoming is a message as libraries that decode whole messages hold it.
type incoming struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// BenchmarkSplice gives a frame another id: in place, while copying, and from the
// bytes on with the scan, beside decoding and encoding.
func BenchmarkSplice(b *testing.B) {
	ids := [][]byte{[]byte(`281474976710657`), []byte(`7`), []byte(`281474976710000`), []byte(`12345`)}
	for _, shape := range append(frameset.Shapes(), frameset.Prose) {
		frames := frameset.Make(shape, 1, 64) // a power of two: a division takes a third of a splice
		if shape == frameset.Prose {
			frames = frames[:8]
		}
		last := len(frames) - 1
		run := func(name string, f func(b *testing.B, i int)) {
			b.Run(shape.String()+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					f(b, i)
				}
			})
		}
		owned := make([]codec.Message, len(frames))
		for i := range owned {
			owned[i] = own(b, string(frames[i]))
		}
		run("in-place", func(b *testing.B, i int) {
			m := &owned[i&last]
			if !codec.SpliceInPlace(m, m.Envelope.RawID, ids[i&3]) {
				b.Fatal("no room")
			}
		})
		dst := make([]byte, 0, 2<<20)
		run("copy", func(_ *testing.B, i int) {
			m := &owned[i&last]
			dst = codec.AppendSplice(dst[:0], m.Frame(), codec.Edit{Span: m.Envelope.RawID, Text: ids[i&3]})
		})
		run("scan+copy", func(b *testing.B, i int) {
			frame := frames[i&last]
			var e codec.Envelope
			if err := codec.Scan(frame, &e, codec.ScanOptions{}); err != nil {
				b.Fatal(err)
			}
			dst = codec.AppendSplice(dst[:0], frame, codec.Edit{Span: e.RawID, Text: ids[i&3]})
		})
		run("encoding-json", func(b *testing.B, i int) {
			var m incoming
			if err := json.Unmarshal(frames[i&last], &m); err != nil {
				b.Fatal(err)
			}
			m.ID = ids[i&3]
			text, err := json.Marshal(m)
			if err != nil {
				b.Fatal(err)
			}
			frameSink = text
		})
	}
}

// BenchmarkReadScan reads and scans the mix, beside json.Decoder: into the
// envelope at once, and as stdio transports do it, a raw message first.
func BenchmarkReadScan(b *testing.B) {
	frames := frameset.Make(frameset.Mix, 1, frameset.Rotation)
	size := int64(frameset.Bytes(frames) / len(frames))
	b.Run("reader", func(b *testing.B) {
		r := codec.NewReader(streamOf(b, codec.LineFramer{}, frames), codec.ReaderOptions{})
		var m codec.Message
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if err := r.ReadMessage(&m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json-Decoder", func(b *testing.B) {
		d := json.NewDecoder(streamOf(b, codec.LineFramer{}, frames))
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			var m incoming
			if err := d.Decode(&m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json-Decoder-raw-first", func(b *testing.B) {
		d := json.NewDecoder(streamOf(b, codec.LineFramer{}, frames))
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				b.Fatal(err)
			}
			var m incoming
			if err := json.Unmarshal(raw, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkValue encodes and decodes a typed value beside encoding/json.
func BenchmarkValue(b *testing.B) {
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type result struct {
		Content []content `json:"content"`
		IsError bool      `json:"isError"`
	}
	v := result{Content: []content{{"text", strings.Repeat("some words, \"quoted\" ones too\n", 36)}}}
	text, err := codec.AppendValue(nil, v)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"append", func() error { _, err := codec.AppendValue(text[:0:cap(text)], &v); return err }},
		{"pooled", func() error { buffer, err := codec.EncodeValue(&v); codec.PutValue(buffer); return err }},
		{"json-Marshal", func() error { _, err := json.Marshal(&v); return err }},
		{"decode", func() error { var into result; return codec.DecodeValue(text, &into) }},
		{"json-Unmarshal", func() error { var into result; return json.Unmarshal(text, &into) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
