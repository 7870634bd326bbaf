package codec

import (
	"bytes"
	"encoding/json"
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

// checkEngines holds every engine to the portable one, and TrustBody to the same
// spans wherever the frame is good.
func checkEngines(t *testing.T, frame []byte, p Profile) {
	t.Helper()
	o := ScanOptions{Profile: p}
	var want Envelope
	wantErr := scan(frame, &want, o, portable)
	for by := range engines {
		var got Envelope
		err := scan(frame, &got, o, by)
		require.Equal(t, want, got, "engine %d: %q", by, frame)
		require.Equal(t, wantErr, err, "engine %d: %q", by, frame)

		o.TrustBody = true
		err = scan(frame, &got, o, by)
		if wantErr == nil {
			require.NoError(t, err, "engine %d, trusting: %q", by, frame)
			require.Equal(t, want, got, "engine %d, trusting: %q", by, frame)
		}
		o.TrustBody = false
	}
}

func TestEnginesAgree(t *testing.T) {
	for _, c := range jsonTexts {
		checkEngines(t, []byte(`{"jsonrpc":"2.0","id":1,"result":`+c.text+`}`), MCP)
	}
	for _, c := range envelopes {
		checkEngines(t, []byte(c.frame), MCP)
	}
}

func FuzzEngines(f *testing.F) {
	seedTexts(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		checkEngines(t, text, MCP)
		checkEngines(t, []byte(`{"jsonrpc":"2.0","id":1,"result":`+string(text)+`}`), MCP)
		checkEngines(t, []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":`+string(text)+`}}`), LSP)
	})
}
