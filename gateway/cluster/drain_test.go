package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
)

// A node that is shut down lets the calls end that are at its server. New ones of other
// nodes wait, and go to the server that comes in its place: none is refused.
func TestNewCallsWaitWhileTheOwnerDrains(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	o := cluster.Options{Server: s}
	a, b := join(t, "a", o, gateway.Upstream{}), join(t, "b", o, gateway.Upstream{})
	own, other := a.client("own"), b.client("other")
	require.NoError(t, own.Say(tool(1, "own")))
	w := a.server.Way(0)
	ownID, _ := nextRequest(t, w)
	require.NoError(t, other.Say(tool(1, "first")))
	first, _ := nextRequest(t, w)

	stop := make(chan struct{})
	var serving sync.WaitGroup
	defer serving.Wait()
	defer close(stop)
	serve := func(n *node, at string) {
		way := n.server.WayOr(0, stop)
		for way != nil {
			frame, ok := way.NextOr(stop)
			if !ok {
				return
			}
			m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
			if err == nil && m.Kind == codec.KindRequest {
				answer(way, string(m.RawID()), at)
			}
		}
	}
	serving.Go(func() { serve(a, "a") })
	drained := make(chan error, 1)
	go func() { drained <- a.Drain(t.Context()) }()
	// Calls are sent until the owner's word has come; from then on they wait.
	count := 0
	require.Eventually(t, func() bool {
		count++
		require.NoError(t, other.Say(tool(1+count, "more")))
		return b.gateway.Stats().Waiting > 2
	}, patience, tick)
	answer(w, ownID, "own")
	answer(w, first, "first")
	require.Contains(t, next(t, own), `"mark":"own"`)
	require.NoError(t, <-drained)
	serving.Go(func() { serve(b, "b") })
	serving.Go(a.leave)
	at := map[string]int{}
	for range 1 + count {
		got := next(t, other)
		for _, mark := range []string{"first", "a", "b"} {
			if strings.Contains(got, `"mark":"`+mark+`"`) {
				at[mark]++
			}
		}
	}
	require.Equal(t, 1, at["first"])
	require.Greater(t, at["b"], 2)
	require.Equal(t, count, at["a"]+at["b"])
	got := b.gateway.Stats()
	require.Zero(t, got.Refused+got.Lost+got.Failed+got.Expired, "%+v", got)
	require.EqualValues(t, 1+count, got.Answered)
}

// Where no other server comes, calls that wait are told when they may not wait longer,
// and when to come again.
func TestNewCallsWaitNoLongerThanTheyMay(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	o := cluster.Options{Server: s}
	a := join(t, "a", o, gateway.Upstream{})
	b := join(t, "b", o, gateway.Upstream{Methods: map[string]gateway.Deadlines{"tools/call": {Queue: 200 * time.Millisecond}}})
	own, other := a.client("own"), b.client("other")
	require.NoError(t, own.Say(tool(1, "own")))
	number, _ := nextRequest(t, a.server.Way(0))
	require.NoError(t, other.Say(tool(1, "first")))
	first, _ := nextRequest(t, a.server.Way(0))
	ctx, stop := context.WithCancelCause(t.Context())
	var over sync.WaitGroup
	over.Go(func() { _ = a.Drain(ctx) })
	defer over.Wait()
	enough := errors.New("enough")
	defer stop(enough)
	late := 0
	for id := 2; late == 0; id++ {
		require.NoError(t, other.Say(tool(id, "x")))
		if b.gateway.Stats().Waiting > 0 {
			late = id
		}
	}
	got := next(t, other)
	require.Contains(t, got, `"code":-32001`)
	require.Contains(t, got, `"deadline":"queue"`)
	require.Contains(t, got, `"retryAfterMs":`)
	answer(a.server.Way(0), number, "own")
	answer(a.server.Way(0), first, "first")
	require.Contains(t, next(t, own), `"mark":"own"`)
	require.Contains(t, next(t, other), `"mark":"first"`)
}
