package codec

import (
	"encoding/json"
	"testing"

	"github.com/correlator-go/correlator/internal/frameset"
)

// rivalEnvelope is what a program without this package decodes frames into.
type rivalEnvelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// rotate measures one decoder on a rotating set of frames.
func rotate(b *testing.B, frames [][]byte, decode func([]byte) error) {
	b.ReportAllocs()
	b.SetBytes(int64(frameset.Bytes(frames) / len(frames)))
	i := 0
	for b.Loop() {
		if err := decode(frames[i]); err != nil {
			b.Fatal(err)
		}
		if i++; i == len(frames) {
			i = 0
		}
	}
}

// A decoder reads a frame as far as its id, method and raw members.
type decoder struct {
	name   string
	decode func([]byte) error
}

func scanWith(o ScanOptions) func([]byte) error {
	return func(frame []byte) error {
		var e Envelope
		return Scan(frame, &e, o)
	}
}

func unmarshalWith(unmarshal func([]byte, any) error) func([]byte) error {
	return func(frame []byte) error {
		var e rivalEnvelope
		return unmarshal(frame, &e)
	}
}

func benchmarkDecoders(b *testing.B, shapes []frameset.Shape, n int) {
	decoders := append([]decoder{
		{"scan", scanWith(ScanOptions{})},
		{"portable", scanWith(ScanOptions{Portable: true})},
		{"trust", scanWith(ScanOptions{TrustBody: true})},
		{"encoding-json", unmarshalWith(json.Unmarshal)},
	}, sonicDecoders()...)
	for _, s := range shapes {
		frames := frameset.Make(s, 1, n)
		for _, d := range decoders {
			b.Run("frames="+s.String()+"/by="+d.name, func(b *testing.B) { rotate(b, frames, d.decode) })
		}
	}
}

// BenchmarkScan compares the scan with decoding into a struct of raw members, on
// the shapes of ordinary traffic.
func BenchmarkScan(b *testing.B) { benchmarkDecoders(b, frameset.Shapes(), frameset.Rotation) }

// BenchmarkScanLarge does the same with frames of 1 MiB.
func BenchmarkScanLarge(b *testing.B) { benchmarkDecoders(b, frameset.Large(), 8) }

func BenchmarkParseID(b *testing.B) {
	for _, raw := range []string{`123456`, `"call-123456"`} {
		b.Run("id="+raw, func(b *testing.B) {
			rotate(b, [][]byte{[]byte(raw)}, func(raw []byte) error { _, err := ParseID(raw, MCP); return err })
		})
	}
}

func BenchmarkIDHash(b *testing.B) {
	for _, id := range []ID{IntID(123456), StringID("call-123456-of-some-client")} {
		b.Run("kind="+id.Kind().String(), func(b *testing.B) {
			var sum uint64
			for b.Loop() {
				sum += id.Hash(sum)
			}
		})
	}
}

func BenchmarkCompact(b *testing.B) {
	var frames [][]byte
	for _, frame := range frameset.Make(frameset.Nested, 1, 64) {
		var value any
		if err := json.Unmarshal(frame, &value); err != nil {
			b.Fatal(err)
		}
		pretty, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			b.Fatal(err)
		}
		frames = append(frames, pretty)
	}
	var dst []byte
	rotate(b, frames, func(frame []byte) error { dst = AppendCompact(dst[:0], frame); return nil })
}
