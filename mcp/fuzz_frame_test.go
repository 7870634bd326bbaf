package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// Whatever bytes a peer sends, in whatever state: the answer is a message, there is
// at most one, what is not open is closed, the invocation says what the frame said,
// and a frame that was scanned before is judged no differently.
func FuzzFrame(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(f, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		for line := range strings.Lines(string(text)) {
			if _, frame, ok := strings.Cut(line, "{"); ok && strings.HasPrefix(line, "recv") {
				f.Add([]byte(strings.ReplaceAll("{"+strings.TrimSpace(frame), "$META", metaText)))
			}
		}
	}
	server := newServer(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, version := range []mcp.Revision{"", mcp.Revision20250326, mcp.Revision20251125} {
			state := func() *mcp.State {
				s := mcp.Init(server, mcp.Options{})
				if version != "" {
					mcp.Step(s, mcp.Received{Exchange: 1, Frame: []byte(strings.Replace(hello, "2025-11-25", string(version), 1))}, nil)
				}
				return s
			}
			s := state()
			effects := mcp.Step(s, mcp.Received{Exchange: 2, Frame: frame}, nil)
			require.NotEmpty(t, effects)
			last := effects[len(effects)-1].Kind
			require.Equal(t, s.Live() == 0, last == mcp.Close, "open or closed")
			answers := 0
			for i := range effects {
				e := &effects[i]
				if e.Kind == mcp.Write {
					requireJSON(t, e.Frame)
				}
				if e.Final {
					answers++
				}
				if e.Kind == mcp.Start {
					checkRun(t, e.Run, frame)
				}
			}
			require.LessOrEqual(t, answers, 1)
			var e codec.Envelope
			if codec.Scan(frame, &e, codec.ScanOptions{MaxDepth: 64}) == nil {
				again := mcp.Step(state(), mcp.Received{Exchange: 2, Frame: frame, Envelope: &e}, nil)
				require.Equal(t, plain(effects), plain(again))
			}
		}
	})
}

// checkRun compares an invocation with the frame that it came from, unless that is
// a batch.
func checkRun(t *testing.T, v *mcp.Invocation, frame []byte) {
	m, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil {
		return
	}
	require.Equal(t, m.ID(), v.RequestID())
	require.Equal(t, string(m.Method()), v.Method())
	require.Equal(t, string(m.Params()), string(v.Params()))
	token, err := codec.ParseID(m.Token(), codec.MCP)
	require.NoError(t, err)
	require.Equal(t, token, v.ProgressToken())
	v.ClientInfo()
	v.ClientCapabilities()
	v.Trace()
}
