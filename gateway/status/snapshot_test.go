package status_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/status"
)

// Members of the snapshot are written in one way, and the page reads none that is not
// there.
func TestSnapshotMembers(t *testing.T) {
	s := newStage(t, status.Options{})
	require.NoError(t, s.client.Say(ask))
	s.server.Way(0).NextRequest()
	var top struct {
		Upstreams, Slowest []map[string]any
	}
	text := must(s.do("GET", "/status/snapshot", ""))
	require.NoError(t, json.Unmarshal([]byte(text), &top))
	require.Len(t, top.Upstreams, 1)
	require.Len(t, top.Slowest, 1)
	for _, member := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(text, -1) {
		require.Regexp(t, `^[a-z][a-z0-9]*([A-Z][a-z0-9]*)*$`, member[1])
	}
	page, err := os.ReadFile("page.js")
	require.NoError(t, err)
	sometimes := map[string]bool{"lastError": true}
	for _, read := range regexp.MustCompile(`\bu\.(\w+)`).FindAllStringSubmatch(string(page), -1) {
		if !sometimes[read[1]] {
			require.Contains(t, top.Upstreams[0], read[1])
		}
	}
}

// A way that the gateway ended is nothing to be warned of, and leaves no error on the page.
func TestOrderlyEndIsNoWarning(t *testing.T) {
	var log bytes.Buffer
	s := newStage(t, status.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"result":{}}`)
	require.NoError(t, s.g.Close())
	require.NoError(t, s.board.Flush())
	require.Contains(t, log.String(), `level=INFO msg="upstream was ended" upstream=tools reason="gateway: closed"`)
	require.NotContains(t, log.String(), "WARN")
	require.Empty(t, s.snapshot().Upstreams[0].LastErr)
}

// A way that was lost is.
func TestLossIsWarning(t *testing.T) {
	var log bytes.Buffer
	s := newStage(t, status.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"result":{}}`)
	s.server.Way(0).Die(errors.New("exit status 1"))
	require.NoError(t, s.g.Close())
	require.NoError(t, s.board.Flush())
	require.Contains(t, log.String(), `level=WARN msg="upstream is down" upstream=tools error="exit status 1"`)
	require.Equal(t, "exit status 1", s.snapshot().Upstreams[0].LastErr)
}
