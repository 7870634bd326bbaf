package conn_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

func TestStormOfCancels(t *testing.T) {
	const calls = 20_000
	clock := engine.NewManualClock()
	ours, theirs := newTape()
	c, err := conn.New(ours, conn.Options{MaxPending: calls, Clock: clock})
	require.NoError(t, err)
	defer c.Close()
	batch := make([]conn.Request, calls)
	for i := range batch {
		batch[i] = conn.Request{Method: "m", Options: conn.CallOptions{Timeout: time.Second}}
	}
	n, err := c.Submit(background, batch)
	require.NoError(t, err)
	require.Equal(t, calls, n)
	require.NoError(t, c.Flush(background))
	goroutines, writes := runtime.NumGoroutine(), c.Stats().Writes
	p := &peer{t: t, in: theirs.lines()}
	sent := make(map[string]bool, calls)
	for range calls {
		sent[string(p.read().ID)] = true
	}

	clock.Advance(1001 * time.Millisecond)
	for range calls {
		m := p.read()
		require.Equal(t, "notifications/cancelled", m.Method)
		var params struct{ RequestID json.RawMessage }
		require.NoError(t, json.Unmarshal(m.Params, &params))
		id := string(params.RequestID)
		require.True(t, sent[id], "once for each that was sent")
		delete(sent, id)
	}
	require.Empty(t, sent)
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	require.EqualValues(t, calls, c.Stats().CancelsOut)
	require.Less(t, c.Stats().Writes-writes, uint64(calls/10), "many in one write")
	require.NoError(t, c.Flush(background))
	require.False(t, strings.Contains(string(theirs.in.rest()), "cancelled"))
}
