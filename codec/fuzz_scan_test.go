package codec

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/frameset"
)

func seedTexts(f *testing.F) {
	for _, c := range jsonTexts {
		f.Add([]byte(c.text))
	}
	for _, frame := range frameset.Make(frameset.Mix, 1, 20) {
		f.Add(frame)
	}
}

func FuzzScanAgainstEncodingJSON(f *testing.F) {
	seedTexts(f)
	f.Fuzz(func(t *testing.T, text []byte) { checkAcceptSet(t, text) })
}

func FuzzScanEnvelope(f *testing.F) {
	for _, c := range envelopes {
		f.Add([]byte(c.frame))
	}
	for _, frame := range frameset.Make(frameset.Request, 1, 10) {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, p := range []Profile{MCP, JSONRPC, LSP} {
			checkAgainstReference(t, frame, ScanOptions{Profile: p})
		}
		var e Envelope
		if Scan(frame, &e, ScanOptions{}) == nil {
			require.Equal(t, newlines(frame), e.Flags.Has(FlagNewline))
		}
	})
}

func FuzzCompact(f *testing.F) {
	seedTexts(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		got := AppendCompact([]byte("kept"), text)
		require.Equal(t, "kept", string(got[:4]))
		if !json.Valid(text) {
			return
		}
		var want bytes.Buffer
		require.NoError(t, json.Compact(&want, text))
		require.Equal(t, want.String(), string(got[4:]))
		require.Equal(t, want.String(), string(AppendCompact(text[:0], text)))
	})
}

// scanBy is Scan by a certain engine.
func scanBy(by engine, frame []byte, e *Envelope, o ScanOptions) error {
	*e = Envelope{}
	s := scanner{e: e, engine: by, profile: o.Profile, lone: o.RefuseLoneSurrogates, trust: o.TrustBody, maxDepth: depthOf(o.MaxDepth)}
	s.plain = s.isPlain(len(frame))
	return s.scan(frame, 0, 0)
}

// checkEngines holds every engine to the portable one, trusting or not, in verdict,
// offset and all that is found; and TrustBody to the same message wherever the frame
// is good.
func checkEngines(t *testing.T, frame []byte, o ScanOptions) {
	t.Helper()
	strict, strictErr := Envelope{}, error(nil)
	for _, o.TrustBody = range []bool{false, true} {
		var want Envelope
		wantErr := scanBy(portable, frame, &want, o)
		for by := range engines + 1 { // the last is Scan itself
			var got Envelope
			var err error
			if by == engines {
				err = Scan(frame, &got, o)
			} else {
				err = scanBy(by, frame, &got, o)
			}
			if err != wantErr || got != want { // require is slow, and this runs very often
				require.Equal(t, want, got, "engine %d, %+v: %q", by, o, frame)
				require.Equal(t, wantErr, err, "engine %d, %+v: %q", by, o, frame)
			}
		}
		if !o.TrustBody {
			strict, strictErr = want, wantErr
		} else if strictErr == nil {
			require.NoError(t, wantErr, "trusting: %q", frame)
			require.Equal(t, strict, want, "trusting: %q", frame)
		}
	}
}

func TestC28ScanIsTheSameWithEveryEngine(t *testing.T) {
	for _, c := range jsonTexts {
		checkEngines(t, []byte(`{"jsonrpc":"2.0","id":1,"result":`+c.text+`}`), ScanOptions{})
	}
	for _, c := range envelopes {
		checkEngines(t, []byte(c.frame), ScanOptions{})
	}
}

func FuzzEngines(f *testing.F) {
	seedTexts(f)
	for _, s := range []frameset.Shape{frameset.Text, frameset.Nested} {
		for _, frame := range frameset.Make(s, 1, 3) {
			f.Add(frame)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkEngines(t, text, ScanOptions{})
		checkBodies(t, text)
	})
}

// checkBodies holds the engines to each other with text as a body, in frames so long
// that every engine takes its own way.
func checkBodies(t *testing.T, text []byte) {
	t.Helper()
	padding := strings.Repeat(" ", parallelBody)
	checkEngines(t, []byte(`{"jsonrpc":"2.0","id":1,"result":`+string(text)+`}`+padding), ScanOptions{})
	checkEngines(t, []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":[`+string(text)+`]}`+padding), ScanOptions{Profile: LSP, MaxDepth: 6})
	checkEngines(t, []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"b":`+string(text)+`}}}`+padding), ScanOptions{RefuseLoneSurrogates: len(text)&1 == 0})
}
