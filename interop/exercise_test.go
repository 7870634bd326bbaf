package interop

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// toolCall is a call of a tool.
type toolCall struct {
	name      string
	arguments any
}

// abilities are how a real server is asked for what every one of them can do.
type abilities struct {
	server string // the name it gives itself
	// double gives the call whose answer is want.
	double func(i int) (call toolCall, want string)
	steps  toolCall // reports progress, the last time with stepsEnd
	// stepsEnd is 0 where it is not known. stepped, if not nil, is told of each.
	stepsEnd float64
	stepped  func(value float64)
	// unordered: the server writes what it reports in any order.
	unordered bool
	// long reports progress, and does not end by itself before the test does.
	long toolCall
	// heard is told, if not nil, when long was cancelled.
	heard <-chan string
	// watch is what is listened for, change what makes it happen. Without a name
	// the server has no such thing.
	watch   mcp.ListenFilter
	change  toolCall
	changed mcp.Notification
	// settle: change is called once more before the next change.
	settle bool
}

func (c toolCall) of(ctx context.Context, t *client.Client, o client.CallOptions) (string, error) {
	r, err := t.CallTool(ctx, c.name, c.arguments, o)
	switch {
	case err != nil:
		return "", err
	case r.IsError || len(r.Content) == 0:
		return "", fmt.Errorf("the tool failed: %+v", r)
	}
	return r.Content[0].Text, nil
}

// exercise uses a real server with our client: list, call, progress, 200 calls at
// once, abort, subscription.
func exercise(t *testing.T, way client.Transport, o client.Options, want mcp.Revision, a abilities) {
	o.Eras = &client.Eras{} // no test knows what another has learnt
	c, err := client.Connect(t.Context(), way, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	require.Equal(t, want, c.Revision())
	require.Equal(t, a.server, c.ServerInfo().Name)

	var names []string
	for tool, err := range c.Tools(t.Context()) {
		require.NoError(t, err)
		names = append(names, tool.Name)
	}
	once, _ := a.double(0)
	require.Subset(t, names, []string{once.name, a.steps.name, a.long.name})

	var calls sync.WaitGroup
	for i := range 200 {
		calls.Go(func() {
			call, want := a.double(i)
			if got, err := call.of(t.Context(), c, client.CallOptions{}); err != nil || got != want {
				t.Errorf("call %d: %q, want %q: %v", i, got, want, err)
			}
		})
	}
	calls.Wait()

	var reports []float64
	_, err = a.steps.of(t.Context(), c, client.CallOptions{Progress: func(p mcp.Progress) {
		reports = append(reports, p.Value)
		if a.stepped != nil {
			a.stepped(p.Value)
		}
	}})
	require.NoError(t, err)
	require.NotEmpty(t, reports)
	require.True(t, a.unordered || slices.IsSorted(reports), "%v", reports)
	if a.stepsEnd != 0 {
		require.Contains(t, reports, a.stepsEnd)
	}

	abort(t, c, a)
	if a.change.name != "" {
		subscribe(t, c, a)
	}
}

// abort gives a call up once it is known to run. What follows is not disturbed.
func abort(t *testing.T, c *client.Client, a abilities) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := a.long.of(ctx, c, client.CallOptions{Progress: func(mcp.Progress) { cancel() }})
	require.ErrorIs(t, err, conn.ErrCancelled)
	if a.heard != nil {
		require.Equal(t, "cancelled", <-a.heard)
	}
	call, want := a.double(21)
	got, err := call.of(t.Context(), c, client.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func subscribe(t *testing.T, c *client.Client, a abilities) {
	s, err := c.Listen(t.Context(), a.watch, client.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, a.watch, s.Granted())
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 3 {
		_, err = a.change.of(t.Context(), c, client.CallOptions{})
		require.NoError(t, err)
		n, err := s.Next(soon)
		require.NoError(t, err, "the change was not told")
		require.Equal(t, a.changed, n)
		if a.settle {
			_, err = a.change.of(t.Context(), c, client.CallOptions{})
			require.NoError(t, err)
		}
	}
	require.NoError(t, s.Close())
	_, err = s.Next(t.Context())
	require.ErrorIs(t, err, client.ErrSubscriptionEnded)
}
