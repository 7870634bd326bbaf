package conn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// heldSubscription begins a subscription whose first notification is in hand and
// stays there until release is closed.
func heldSubscription(t *testing.T, c *conn.Conn, p *peer, o conn.CallOptions) (id json.RawMessage, ended <-chan conn.Outcome) {
	t.Helper()
	release, holds, done := make(chan struct{}), make(chan struct{}, 1), make(chan conn.Outcome, 1)
	t.Cleanup(func() { close(release) })
	o.Timeout = conn.NoTimeout
	o.Subscription = func(conn.Notification) {
		select {
		case holds <- struct{}{}:
		default:
		}
		<-release
	}
	_, err := c.Start(background, "subscriptions/listen", []byte(`{}`), o, func(o conn.Outcome) { done <- o })
	require.NoError(t, err)
	id = p.read().ID
	p.send(noteFor(id, "notifications/first"))
	<-holds
	return id, done
}

func noteFor(id json.RawMessage, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, method, id)
}

func TestSlowSubscriberIsBoundedByItsMethodsToo(t *testing.T) {
	c, p := connect(t, conn.Options{})
	id, _ := heldSubscription(t, c, p, conn.CallOptions{Slow: conn.SlowDropNewest})
	for range 8 {
		p.send(noteFor(id, strings.Repeat("m", 256<<10)))
	}
	requireWorks(t, c, p)
	require.EqualValues(t, 5, c.Stats().NotesDropped, "three of them fit into 1 MiB")
}

func TestWaitingProgressTakesNoNotesPlace(t *testing.T) {
	for _, policy := range []conn.SlowPolicy{conn.SlowDropOldest, conn.SlowDropNewest} {
		c, p := connect(t, conn.Options{})
		id, _ := heldSubscription(t, c, p, conn.CallOptions{Slow: policy, SubscriptionBuffer: 1, Progress: func(conn.Progress) {}})
		p.send(progressFor(id, 1), noteFor(id, "a"))
		requireWorks(t, c, p)
		require.Zero(t, c.Stats().NotesDropped)
		p.send(noteFor(id, "b"))
		requireWorks(t, c, p)
		require.EqualValues(t, 1, c.Stats().NotesDropped)
	}
}

func TestEnormousOptionsMeanNoLimit(t *testing.T) {
	c, p := connect(t, conn.Options{
		MaxConcurrent: math.MaxInt, MaxQueued: math.MaxInt, ChunkSize: math.MaxInt,
		MaxFrame: math.MaxInt, MaxFrameOut: math.MaxInt, WriteBuffer: math.MaxInt,
		Timeout: math.MaxInt64, Grace: math.MaxInt64, CloseTimeout: math.MaxInt64,
		KeepAlive: math.MaxInt64, KeepAliveTimeout: math.MaxInt64,
		Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) { _ = r.Reply([]byte(`"served"`)) }),
	})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"served by the handler"}`)
	require.JSONEq(t, `"served"`, string(p.read().Result))
	p.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	require.JSONEq(t, `{}`, string(p.read().Result))
	requireWorks(t, c, p)
}

func TestBatchThatAsksForTooMuchIsAnsweredInParts(t *testing.T) {
	c, p := connect(t, conn.Options{Batches: conn.SplitBatches, MaxFrameOut: 500})
	const elements = 100
	p.send("[" + strings.Repeat("1,", elements-1) + "1]")
	arrays := 0
	for answers := 0; answers < elements; arrays++ {
		line := p.line()
		require.LessOrEqual(t, len(line), 600)
		var part []message
		require.NoError(t, json.Unmarshal([]byte(line), &part))
		require.NotEmpty(t, part)
		answers += len(part)
		require.LessOrEqual(t, answers, elements)
	}
	require.Greater(t, arrays, 10)
	require.Zero(t, c.Stats().AnswersDropped)
	requireWorks(t, c, p)
}

func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	c, p := connect(t, conn.Options{MaxConcurrent: 1, Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
		if r.Method() == "exit" {
			runtime.Goexit()
		}
		_ = r.Reply([]byte(`"served"`))
	})})
	p.send(
		`{"jsonrpc":"2.0","method":"exit"}`,
		`{"jsonrpc":"2.0","id":1,"method":"exit"}`,
		`{"jsonrpc":"2.0","id":2,"method":"next"}`,
	)
	require.Equal(t, -32603, p.read().Error.Code)
	require.JSONEq(t, `"served"`, string(p.read().Result))
	requireWorks(t, c, p)
}

func TestCallbackThatEndsItsGoroutine(t *testing.T) {
	t.Run("progress", func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		ended := make(chan conn.Outcome, 1)
		_, err := c.Start(background, "m", nil, conn.CallOptions{Progress: func(conn.Progress) { runtime.Goexit() }},
			func(o conn.Outcome) { ended <- o })
		require.NoError(t, err)
		m := p.read()
		p.send(progressFor(m.ID, 1), resultFor(m.ID, "1"))
		require.NoError(t, (<-ended).Err)
		requireWorks(t, c, p)
	})
	t.Run("outcome on the reader", func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		_, err := c.Start(background, "m", nil, conn.CallOptions{}, func(conn.Outcome) { runtime.Goexit() })
		require.NoError(t, err)
		m := p.read()
		waits := call(background, c, "waits", "", conn.CallOptions{Timeout: conn.NoTimeout})
		p.read()
		p.result(m, "1")
		r := <-waits
		require.ErrorIs(t, r.err, conn.ErrClosed)
		require.ErrorContains(t, r.err, "a callback ended the goroutine of the reader")
		<-c.Done()
	})
}

// slowClose is a stream whose Close takes as long as the test wants.
type slowClose struct {
	net.Conn
	gate chan struct{}
}

func (s slowClose) Close() error {
	<-s.gate
	return s.Conn.Close()
}

func TestCallsDoNotWaitForTheStreamsClose(t *testing.T) {
	ours, theirs := net.Pipe()
	gate := make(chan struct{})
	c, err := conn.New(slowClose{ours, gate}, conn.Options{CloseTimeout: -1})
	require.NoError(t, err)
	done := call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
	for c.Stats().Calls.Pending == 0 {
		runtime.Gosched()
	}
	go func() { _ = c.Close() }()
	require.ErrorIs(t, (<-done).err, conn.ErrClosed)
	close(gate)
	<-c.Done()
	require.NoError(t, theirs.Close())
}
