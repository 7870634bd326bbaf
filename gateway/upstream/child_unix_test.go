//go:build unix

package upstream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// changes are the ways that come and go.
type changes struct{ up, down chan error }

// overChild makes a gateway in front of this program as a child.
func overChild(t *testing.T, u gateway.Upstream) (*gateway.Gateway, *changes) {
	t.Helper()
	ch := &changes{make(chan error, 1024), make(chan error, 1024)}
	u.Plain = true
	if u.BackoffMin == 0 {
		u.BackoffMin = time.Millisecond
	}
	return over(t, upstream.Child(child(), conn.Options{}), u, gateway.Options{Observer: func(e gateway.Event) {
		switch e.Kind {
		case gateway.UpstreamUp:
			ch.up <- nil
		case gateway.UpstreamDown, gateway.UpstreamEnded:
			ch.down <- e.Err
		}
	}}), ch
}

// count asks which number of call this is, and for which process.
func count(t *testing.T, c *fake.Client) (n, pid int) {
	t.Helper()
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"c","method":"count"}`))
	var m struct{ Result [2]int }
	got := c.Next()
	require.NoError(t, json.Unmarshal([]byte(got), &m), got)
	require.NotZero(t, m.Result[1], got)
	return m.Result[0], m.Result[1]
}

// kill -9 with a thousand calls in flight: each of them fails at once and says why, the
// next one meets another child, and nothing of the thousand is left.
func TestChildKilledAtThousand(t *testing.T) {
	base := residue.Measure()
	g, ch := overChild(t, gateway.Upstream{Isolation: gateway.Shared, Timeout: -1})
	const clients, calls = 10, 100
	all := make([]*fake.Client, clients)
	for i := range all {
		all[i] = join(g)
	}
	_, pid := count(t, all[0])
	<-ch.up
	for _, c := range all {
		for id := range calls {
			require.NoError(t, c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"hold"}`, id)))
		}
	}
	require.Equal(t, clients*calls, g.Stats().InFlight)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	for _, c := range all {
		ids := map[int]bool{}
		for range calls {
			var m struct {
				ID    int
				Error struct {
					Code    int
					Message string
					Data    struct{ Upstream string }
				}
			}
			require.NoError(t, json.Unmarshal([]byte(c.Next()), &m))
			require.Equal(t, gateway.CodeUpstreamLost, m.Error.Code)
			require.Contains(t, m.Error.Message, "SIGKILL")
			require.Equal(t, "web", m.Error.Data.Upstream)
			ids[m.ID] = true
		}
		require.Len(t, ids, calls)
		require.Empty(t, c.Unread())
	}
	<-ch.up
	n, another := count(t, all[0])
	require.Equal(t, 1, n)
	require.NotEqual(t, pid, another)
	s := residue.Calls(t, g)
	require.EqualValues(t, clients*calls, s.Lost)
	require.EqualValues(t, 2, s.Answered)
	require.Equal(t, s.Requests, s.Lost+s.Answered)
	require.Empty(t, s.Dropped)
	require.NoError(t, g.Close())
	require.ErrorIs(t, syscall.Kill(another, 0), syscall.ESRCH)
	for _, c := range all {
		c.Forget()
	}
	base.Returns(t, 1<<20)
}

// A child that dies again and again is started after pauses that grow; nobody waits for
// longer than the pause, and calls that come meanwhile are told.
func TestChildDiesAgainAndAgain(t *testing.T) {
	g, ch := overChild(t, gateway.Upstream{Isolation: gateway.Shared})
	c := join(g)
	count(t, c)
	<-ch.up
	for range 5 {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"die"}`))
		got := c.Next()
		require.Contains(t, got, "exited with code 3")
		require.Contains(t, got, "out of cheese", "the end of its standard error is in the client's error")
		require.ErrorContains(t, <-ch.down, "out of cheese")
		<-ch.up
		n, _ := count(t, c)
		require.Equal(t, 1, n)
	}
	require.EqualValues(t, 5, g.Stats().Lost)
}

// A program that is not there is an error of the call, which names it.
func TestChildCannotStart(t *testing.T) {
	g := over(t, upstream.Child(conn.Command{Path: "/nowhere/at-all"}, conn.Options{}), gateway.Upstream{Isolation: gateway.Shared}, gateway.Options{})
	c := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	got := c.Next()
	require.Contains(t, got, "/nowhere/at-all")
	require.Contains(t, got, `"retryAfterMs"`)
}

// Drain lets answers out; Close then ends the child by the end of its input, before
// which it may still say something.
func TestChildDrains(t *testing.T) {
	g, ch := overChild(t, gateway.Upstream{Isolation: gateway.Shared})
	c := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"hold"}`))
	_, pid := count(t, c)
	drained := make(chan error, 1)
	go func() { drained <- g.Drain(t.Context()) }()
	for !g.Draining() {
		require.NoError(t, t.Context().Err())
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"count"}`))
	require.Contains(t, c.Next(), "shutting down")
	require.Equal(t, 1, g.Stats().InFlight)
	require.Empty(t, drained)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	require.NoError(t, <-drained)
	require.NoError(t, g.Close())
	<-ch.up
	<-ch.down
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "it has been waited for")
}

// Standard error is read whatever comes of it.
func TestL07LoudChild(t *testing.T) {
	g, _ := overChild(t, gateway.Upstream{Isolation: gateway.Shared, Timeout: -1})
	c := join(g)
	for range 3 {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"loud"}`))
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"loud"}`, c.Next())
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"die"}`))
	got := c.Next()
	require.Contains(t, got, "out of cheese")
	require.Less(t, len(got), 1<<10, "the end of it, not all of it")
}

// A child that closes its output cannot answer any more, though it lives: calls without
// a deadline fail at once, and it is seen off.
func TestL08DeafChild(t *testing.T) {
	g, ch := overChild(t, gateway.Upstream{Isolation: gateway.Shared, Timeout: -1})
	c := join(g)
	_, pid := count(t, c)
	<-ch.up
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"hold"}`))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"deaf"}`))
	for range 2 {
		got := c.Next()
		require.Contains(t, got, `"code":-32003`)
		require.True(t, strings.Contains(got, "closed its output") || strings.Contains(got, "exited"), got)
	}
	<-ch.up
	_, another := count(t, c)
	require.NotEqual(t, pid, another)
	require.NoError(t, g.Close())
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
}

// A server that counts calls for each connection: clients share it only where that was
// said.
func TestG12SharedOnlyWhereDeclared(t *testing.T) {
	for isolation, want := range map[gateway.Isolation][]int{
		gateway.PerSession: {1, 2, 3, 1}, gateway.Shared: {1, 2, 3, 4}, gateway.PerIdentity: {1, 2, 3, 1},
	} {
		t.Run(isolation.String(), func(t *testing.T) {
			g, _ := overChild(t, gateway.Upstream{Isolation: isolation})
			a, b := &fake.Client{}, &fake.Client{}
			a.Who.Identity, b.Who.Identity = "a", "b"
			a.Join(g.Join(a))
			b.Join(g.Join(b))
			var got []int
			for _, c := range []*fake.Client{a, a, a, b} {
				n, _ := count(t, c)
				got = append(got, n)
			}
			require.Equal(t, want, got)
		})
	}
}

// A session's child ends with its session, and no sooner or later than that.
func TestChildEndsWithSession(t *testing.T) {
	g, ch := overChild(t, gateway.Upstream{})
	a := join(g)
	b := &fake.Client{}
	sb := g.Join(b)
	b.Join(sb)
	_, pa := count(t, a)
	_, pb := count(t, b)
	require.NotEqual(t, pa, pb)
	sb.Gone(nil)
	<-ch.down
	require.ErrorIs(t, syscall.Kill(pb, 0), syscall.ESRCH)
	n, again := count(t, a)
	require.Equal(t, 2, n)
	require.Equal(t, pa, again)
}
