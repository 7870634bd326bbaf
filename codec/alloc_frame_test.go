package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/frameset"
	"github.com/correlator-go/correlator/internal/invariants"
)

// requireNoAllocs runs f until pools are warm, and then demands that it allocates
// nothing. The race detector and the audits of the tag invariants allocate.
func requireNoAllocs(t *testing.T, name string, f func()) {
	t.Helper()
	if invariants.Race || invariants.Enabled {
		f()
		return
	}
	for range 200 {
		f()
	}
	require.Zero(t, testing.AllocsPerRun(1000, f), name)
}

func TestReadingAllocatesNothing(t *testing.T) {
	frames := frameset.Make(frameset.Mix, 1, frameset.Rotation)
	for _, f := range []codec.Framer{codec.LineFramer{}, codec.HeaderFramer{}, codec.LengthFramer{}} {
		var stream []byte
		for _, frame := range frames {
			start := len(stream)
			var err error
			stream, err = f.Seal(append(f.Open(stream), frame...), start)
			require.NoError(t, err)
		}
		o := codec.ReaderOptions{Framer: f}
		r := codec.NewReader(&endless{stream: stream}, o)
		requireNoAllocs(t, "Next", func() {
			if _, err := r.Next(); err != nil {
				panic(err)
			}
		})
		r = codec.NewReader(&endless{stream: stream}, o)
		requireNoAllocs(t, "ReadMessage and Buffered", func() {
			var m codec.Message
			if err := r.ReadMessage(&m); err != nil {
				panic(err)
			}
			r.Buffered()
		})
		r = codec.NewReader(&endless{stream: stream}, o)
		requireNoAllocs(t, "Retain and Release", func() {
			var m codec.Message
			if err := r.ReadMessage(&m); err != nil {
				panic(err)
			}
			m.Retain()
			m.Release()
		})
	}
}

func TestWritingAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 1<<16)
	params, id := []byte(`{"name":"x","_meta":{"progressToken":1}}`), codec.StringID("text id")
	m := own(t, call)
	failure := &codec.Error{Code: 1, Message: "a \"message\""}
	for name, f := range map[string]func(){
		"AppendRequest":         func() { dst = codec.AppendRequest(dst[:0], codec.IntID(1<<50), "tools/call", params) },
		"AppendRequest, text":   func() { dst = codec.AppendRequest(dst[:0], id, "tools/\"call", params) },
		"AppendNotification":    func() { dst = codec.AppendNotification(dst[:0], "n", params) },
		"AppendResult":          func() { dst = codec.AppendResult(dst[:0], m.RawID(), params) },
		"AppendError":           func() { dst = codec.AppendError(dst[:0], m.RawID(), failure) },
		"AppendString":          func() { dst = codec.AppendString(dst[:0], "é\n\"\xff") },
		"AppendCompact":         func() { dst = codec.AppendCompact(dst[:0], m.Frame()) },
		"AppendParamsWithToken": func() { dst, _ = codec.AppendParamsWithToken(dst[:0], params, id) },
		"AppendSplice": func() {
			dst = codec.AppendSplice(dst[:0], m.Frame(), codec.Edit{Span: m.Envelope.RawID, Text: params}, codec.Edit{Span: m.Envelope.Token, Text: params})
		},
		"SpliceInPlace": func() {
			if !codec.SpliceInPlace(&m, m.Envelope.RawID, []byte(`1`)) || !codec.SpliceInPlace(&m, m.Envelope.RawID, []byte(`281474976710657`)) {
				panic("no room")
			}
		},
		"Seal lines":   func() { dst, _ = codec.LineFramer{}.Seal(append(dst[:0], params...), 0) },
		"Seal headers": func() { dst, _ = codec.HeaderFramer{}.Seal(append(codec.HeaderFramer{}.Open(dst[:0]), params...), 0) },
		"Seal lengths": func() { dst, _ = codec.LengthFramer{}.Seal(append(codec.LengthFramer{}.Open(dst[:0]), params...), 0) },
	} {
		requireNoAllocs(t, name, f)
	}
}
