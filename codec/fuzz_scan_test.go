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
