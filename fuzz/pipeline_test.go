package fuzz_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// calls is how many calls are pending while the fuzzer's bytes arrive.
const calls = 3

// seeds are what peers send, good and bad. {0} to {2} stand for the pending
// calls' ids.
var seeds = []string{
	"",
	`{"jsonrpc":"2.0","id":{0},"result":{}}` + "\n",
	`{"jsonrpc":"2.0","id":{1},"error":{"code":-32602,"message":"no"}}` + "\n" + `{"jsonrpc":"2.0","id":{1},"result":1}` + "\n",
	`{"jsonrpc":"2.0","id":"{0}","result":{}}` + "\r\n\r\n",
	"Server started on stdio\n[debug] {x\n42\n\"ready\"\n",
	"\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n",
	"\xff\xfe\n",
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"x"}}` + "\n",
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{2},"progress":1}}` + "\n",
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}` + "\n",
	`{"jsonrpc":"2.0","id":{0},"result":null,"error":"bad cursor"}` + "\n",
	`[{"jsonrpc":"2.0","id":{0},"result":1},1,[]]` + "\n[]\n",
	`{"jsonrpc":"2.0","id":{2},"result":{`,
	`{"id":{2},"result":7,"error":null}` + "\n" + strings.Repeat("[", 600) + "\n",
	`{"jsonrpc":"2.0","id":1.5,"result":0}` + "\n" + `{"jsonrpc":"2.0","id":1e2,"method":"m"}` + "\n",
	"{\"jsonrpc\":\"2.0\",\r\"id\":{0},\"result\":[1,\t2]}\n",
}

// history is what one run over the pipeline showed.
type history struct {
	outcomes [calls]string
	stats    conn.Stats
	err      error
}

// run starts the calls, lets the peer send the text (ids filled in), a line end,
// an answer to each call, and then end the stream. cut says how the peer's
// bytes are split into reads.
func run(t *testing.T, text string, cut func(n int) int) history {
	t.Helper()
	peer := newPeer(cut)
	c, err := conn.New(peer, conn.Options{
		MaxFrame:     1 << 16,
		Batches:      conn.SplitBatches,
		CloseTimeout: -1,
		Timeout:      engine.NoTimeout,
		Handler:      conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) { r.Reply([]byte("{}")) }),
		MatchText:    true,
	})
	require.NoError(t, err)
	var h history
	var mu sync.Mutex
	settled := make(chan int, 2*calls)
	ids := make([]string, 0, 2*calls)
	var answers bytes.Buffer
	for i := range calls {
		id, err := c.Start(context.Background(), "m", []byte(`{"i":1}`), conn.CallOptions{Progress: func(conn.Progress) {}}, func(o conn.Outcome) {
			mu.Lock()
			defer mu.Unlock()
			if h.outcomes[i] != "" {
				t.Errorf("call %d settled twice: %s, then %v", i, h.outcomes[i], o.Status)
			}
			h.outcomes[i] = describe(o)
			settled <- i
		})
		require.NoError(t, err)
		ids = append(ids, fmt.Sprintf("{%d}", i), id.Text())
		answers.Write(append(codec.AppendResult(nil, id.Append(nil), []byte(`"mine"`)), '\n'))
	}
	peer.feed(strings.NewReplacer(ids...).Replace(text) + "\n" + answers.String())
	wait(t, c.Done())
	for range calls {
		select {
		case <-settled:
		case <-time.After(patience):
			require.Fail(t, "a call never ended")
		}
	}
	h.stats, h.err = c.Stats(), c.Err()
	require.NoError(t, peer.broken(), "what we wrote must be whole lines of JSON")
	return h
}

func describe(o conn.Outcome) string {
	if o.Err == nil {
		return fmt.Sprintf("%v %s", o.Status, o.Value)
	}
	if e, ok := errors.AsType[*codec.Error](o.Err); ok {
		return fmt.Sprintf("%v %s", o.Status, e.Error())
	}
	return o.Status.String()
}

func FuzzPipeline(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := run(t, text, func(n int) int { return n })
		s := h.stats.Calls
		require.EqualValues(t, calls, s.Registered)
		require.EqualValues(t, calls, s.Resolved+s.Rejected+s.Failed+s.Cancelled+s.Expired)
		require.Zero(t, s.Pending)
		require.Zero(t, s.Panics+h.stats.Panics)
		for i, o := range h.outcomes {
			require.NotEmptyf(t, o, "call %d", i)
		}
		require.Error(t, h.err, "the stream ended, so the connection has a reason to be closed")
		require.ErrorIs(t, h.err, io.EOF)
	})
}

func FuzzPipelineChunking(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, uint16(i+1))
	}
	f.Fuzz(func(t *testing.T, text string, size uint16) {
		whole := run(t, text, func(n int) int { return n })
		for _, step := range []int{1, int(size)%61 + 1} {
			cut := run(t, text, func(n int) int { return min(n, step) })
			require.Equal(t, whole.outcomes, cut.outcomes, "reads of %d bytes", step)
			require.Equal(t, whole.stats.FramesIn, cut.stats.FramesIn)
			require.Equal(t, whole.stats.Unreadable, cut.stats.Unreadable)
			require.Equal(t, whole.stats.Requests, cut.stats.Requests)
		}
	})
}
