package gateway_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// A hundred first calls at once, three times: one opening each time. Where it fails all
// are told; what is opened after nobody wants it any more is closed.
func TestG10FirstUseOpensOnce(t *testing.T) {
	const crowd = 100
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		var fail atomic.Bool
		server := &fake.Server{Answers: true, Fail: func(int) error {
			asked.Add(1)
			time.Sleep(50 * time.Millisecond)
			if fail.Load() {
				return errors.New("no such host")
			}
			return nil
		}}
		u := shared()
		u.BackoffMin, u.BackoffMax = 30*time.Second, 30*time.Second
		u.Limit.QueueWait = -1 // all wait for longer than the pause
		g, _ := greeting(t, u, server)
		all := make([]*fake.Client, crowd)
		for i := range all {
			all[i], _ = join(g)
		}
		round := func() {
			var saying sync.WaitGroup
			for _, c := range all {
				saying.Go(func() { _ = c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`) })
			}
			saying.Wait()
		}
		round()
		for _, c := range all {
			require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, c.Next())
		}
		require.EqualValues(t, 1, asked.Load())

		fail.Store(true)
		server.Way(0).Die(errors.New("gone"))
		synctest.Wait()
		round()
		for _, c := range all {
			require.Contains(t, c.Next(), "no such host")
		}
		require.EqualValues(t, 2, asked.Load(), "one for all who wait, after the pause")

		fail.Store(false)
		round()
		time.Sleep(30*time.Second - 10*time.Millisecond) // the pause is over, the third opening begins
		for asked.Load() == 2 {
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, g.Close())
		synctest.Wait()
		for _, c := range all {
			require.ErrorIs(t, c.Ended(), gateway.ErrClosed)
		}
		require.Zero(t, g.Stats().InFlight)
		require.EqualValues(t, 3, asked.Load())
		require.Equal(t, 2, server.Opened())
		require.True(t, server.Way(1).Ended(), "it was opened for nobody")
		require.Equal(t, 1, server.Most())
	})
}

// The same for a session that goes while its own way is being opened.
func TestG10SessionGoesWhileOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{Fail: func(int) error { time.Sleep(50 * time.Millisecond); return nil }}
		g, _ := greeting(t, gateway.Upstream{}, server)
		c, s := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		time.Sleep(10 * time.Millisecond)
		s.Gone(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, server.Opened())
		require.True(t, server.Way(0).Ended())
		require.Zero(t, g.Ways()["tools"])
		require.Zero(t, g.Backends())
	})
}

// Sessions leave nothing behind, however many there were; nor does a server that comes
// and goes.
func TestG11NothingOutlivesSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{Answers: true, Forgets: true}
		g, _ := greeting(t, gateway.Upstream{MaxWays: 100}, server)
		for n := range 10_000 {
			c, s := join(g)
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
			require.Contains(t, c.Next(), `"result"`)
			s.Gone(nil) // without a goodbye
			if n%50 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		s := g.Stats()
		require.Zero(t, s.Sessions)
		require.Zero(t, s.InFlight)
		require.Zero(t, g.Backends())
		require.Zero(t, g.Ways()["tools"])
		require.LessOrEqual(t, server.Most(), 100)
		require.EqualValues(t, 10_000, s.Answered)
		require.Equal(t, 10_000, server.Opened())
	})
}

func TestG11RefreshCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{Answers: true, Forgets: true}
		u := shared()
		u.BackoffMin = -1
		g, _ := greeting(t, u, server)
		c, _ := join(g)
		for n := range 10_000 {
			require.NoError(t, c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, n)))
			require.Contains(t, c.Next(), `"result"`)
			server.Last().Die(errors.New("refreshed"))
			synctest.Wait()
		}
		require.Equal(t, 1, g.Backends())
		require.Equal(t, 1, g.Ways()["tools"])
		require.Equal(t, 1, server.Most())
		require.Zero(t, g.Stats().InFlight)
	})
}

// A client comes back while its old connection is still there: the other's call goes on,
// and so does the server.
func TestG16ReconnectHarmsNobody(t *testing.T) {
	g, server := start(t, shared())
	a, old := join(g)
	b, _ := join(g)
	require.NoError(t, b.Say(`{"jsonrpc":"2.0","id":1,"method":"long"}`))
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","id":1,"method":"mine"}`))
	w := server.Way(0)
	idB, _ := w.NextRequest()
	w.NextRequest()
	again, _ := join(g)
	require.NoError(t, again.Say(`{"jsonrpc":"2.0","id":1,"method":"mine"}`))
	idA, _ := w.NextRequest()
	old.Gone(errors.New("replaced"))
	old.Gone(errors.New("twice"))
	w.Say(`{"jsonrpc":"2.0","id":` + idA + `,"result":"A"}`)
	w.Say(`{"jsonrpc":"2.0","id":` + idB + `,"result":"B"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"A"}`, again.Next())
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"B"}`, b.Next())
	require.Empty(t, a.Unread())
	require.Equal(t, 1, server.Opened())
	require.False(t, w.Ended())
	require.Len(t, w.Cancels(), 1, "the call of the connection that went")
}

// A call that times out says nothing of the way that it was on.
func TestL20TimeoutKeepsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout = 50 * time.Millisecond
		g, server := start(t, u)
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"slow"}`))
		w := server.Way(0)
		w.NextRequest()
		require.Contains(t, c.Next(), `"code":-32001`)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"fast"}`))
		id, _ := w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, c.Next())
		require.Equal(t, 1, server.Opened())
		require.False(t, w.Ended())
		_ = g.Close()
		synctest.Wait()
	})
}
