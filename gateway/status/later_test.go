package status_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/status"
)

// held is a handler of a log that takes its time.
type held struct {
	slog.Handler
	begun   chan struct{}
	release chan struct{}
}

func (h *held) Handle(ctx context.Context, r slog.Record) error {
	select {
	case h.begun <- struct{}{}:
	default:
	}
	<-h.release
	return h.Handler.Handle(ctx, r)
}

// A handler of the log that is stuck holds no answer up, whoever's: lines wait, and what
// does not fit is dropped and counted.
func TestStuckLogHoldsNobodyUp(t *testing.T) {
	var out strings.Builder
	h := &held{slog.NewTextHandler(&out, nil), make(chan struct{}, 1), make(chan struct{})}
	s := newStage(t, status.Options{LogCalls: true, Log: slog.New(h)})
	s.call(ask, `{"jsonrpc":"2.0","id":ID,"result":{}}`)
	<-h.begun
	const most, more = 8192, 10_000
	for range more {
		s.call(ask, `{"jsonrpc":"2.0","id":ID,"result":{}}`) // each is answered
	}
	_, text := s.do("GET", "/metrics", "")
	require.Contains(t, text, "correlator_gateway_log_dropped_total ")
	require.NotContains(t, text, "correlator_gateway_log_dropped_total 0\n")
	close(h.release)
	require.NoError(t, s.board.Flush())
	lines := strings.Count(out.String(), "msg=call")
	require.Greater(t, lines, most-10, "beside calls there are clients and upstreams")
	require.Less(t, lines, more)
}
