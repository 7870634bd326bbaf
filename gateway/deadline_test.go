package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

func progressOf(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + id + `,"progress":1}}`
}

// Where an idle deadline is set and the client asks for no progress, the gateway does:
// it moves the deadline, and the client never sees it.
func TestIdleDeadlineAsksForProgress(t *testing.T) {
	for _, o := range []struct{ sent, want string }{
		{`{"jsonrpc":"2.0","id":"c","method":"m"}`, `{"jsonrpc":"2.0","id":ID,"method":"m","params":{"_meta":{"progressToken":ID}}}`},
		{`{"jsonrpc":"2.0","id":"c","method":"m","params":{}}`, `{"jsonrpc":"2.0","id":ID,"method":"m","params":{"_meta":{"progressToken":ID}}}`},
		{`{"params": {"a":"a\/b", "_meta":{ "x":1e400}} ,"jsonrpc":"2.0","id":"c","method":"m"}`, `{"params": {"a":"a\/b", "_meta":{"progressToken":ID, "x":1e400}} ,"jsonrpc":"2.0","id":ID,"method":"m"}`},
		{`{"jsonrpc":"2.0","id":"c","method":"m","params":{"a":{"_meta":{}}}}`, `{"jsonrpc":"2.0","id":ID,"method":"m","params":{"_meta":{"progressToken":ID},"a":{"_meta":{}}}}`},
		{`{"jsonrpc":"2.0","id":"c","method":"m","params":{"_meta":null}}`, `{"jsonrpc":"2.0","id":ID,"method":"m","params":{"_meta":{"progressToken":ID}}}`},
		{`{"jsonrpc":"2.0","id":"c","method":"m","params":[1]}`, `{"jsonrpc":"2.0","id":ID,"method":"m","params":[1]}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := shared()
			u.IdleTimeout = time.Second
			g, server := start(t, u)
			c, _ := join(g)
			require.NoError(t, c.Say(o.sent))
			w := server.Way(0)
			id, frame := w.NextRequest()
			require.Equal(t, strings.ReplaceAll(o.want, "ID", id), frame)
			for range 3 {
				time.Sleep(900 * time.Millisecond)
				w.Say(progressOf(id))
			}
			require.Empty(t, c.Unread())
			time.Sleep(1100 * time.Millisecond)
			require.Contains(t, c.Next(), `"deadline":"idle"`)
			_ = g.Close()
			synctest.Wait()
		})
	}
}

// Methods may have deadlines of their own, and none at all.
func TestDeadlinesByMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout = time.Second
		u.Methods = map[string]gateway.Deadlines{"quick": {Total: 10 * time.Millisecond}, "endless": {Total: -1}}
		g, server := start(t, u)
		c, _ := join(g)
		say(t, c, "1", "quick")
		say(t, c, "2", "endless")
		say(t, c, "3", "usual")
		synctest.Wait()
		time.Sleep(20 * time.Millisecond)
		require.Contains(t, c.Next(), `"id":1`)
		time.Sleep(time.Second)
		require.Contains(t, c.Next(), `"id":3`)
		time.Sleep(24 * time.Hour)
		require.Empty(t, c.Unread())
		require.Len(t, server.Way(0).Cancels(), 2)
		_ = g.Close()
		synctest.Wait()
	})
}

// The total deadline is looked at by itself, whatever the idle one is.
func TestX09TotalDeadline(t *testing.T) {
	for _, o := range []struct{ idle, total, progress, want time.Duration }{
		{time.Second, 150 * time.Millisecond, 0, 150 * time.Millisecond},
		{0, 400 * time.Millisecond, 0, 400 * time.Millisecond},
		{100 * time.Millisecond, 400 * time.Millisecond, 50 * time.Millisecond, 400 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := shared()
			u.IdleTimeout, u.Timeout = o.idle, o.total
			g, server := start(t, u)
			c, _ := join(g)
			say(t, c, "1", "m")
			w := server.Way(0)
			id, _ := w.NextRequest()
			begun := time.Now()
			stop := make(chan struct{})
			if o.progress > 0 {
				go func() {
					tick := time.NewTicker(o.progress)
					defer tick.Stop()
					for {
						select {
						case <-tick.C:
							w.Say(progressOf(id))
						case <-stop:
							return
						}
					}
				}()
			}
			require.Contains(t, c.Next(), `"deadline":"total"`)
			require.InDelta(t, o.want, time.Since(begun), float64(2*time.Millisecond))
			close(stop)
			_ = g.Close()
			synctest.Wait()
		})
	}
}

// An error of a deadline tells method, age, how many calls the upstream has, when it
// last said anything, and how many answers belonged to no call: nothing of the params.
func TestG15WhyItTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout = 10 * time.Second
		g, server := start(t, u)
		c, _ := join(g)
		for _, id := range []string{"1", "2", "3"} {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"t","arguments":{"password":"secret"}}}`))
		}
		w := server.Way(0)
		synctest.Wait()
		time.Sleep(5 * time.Second)
		id, _ := w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		_ = c.Next()
		time.Sleep(6 * time.Second)
		got := c.Next()
		require.Contains(t, got, `"code":-32001`)
		require.Contains(t, got, `"data":{"upstream":"tools","method":"tools/call","deadline":"total","elapsedMs":1000`)
		require.Contains(t, got, `"state":{"inFlight":2,"lastHeardMs":500`)
		require.Contains(t, got, `"unmatched":1}`)
		require.NotContains(t, got, "secret")
		_ = g.Close()
		synctest.Wait()
	})
}

// A call that only reads is sent again when the server goes; one that may change
// something never is, however its server ends.
func TestRetryOfReadsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout = 10 * time.Second
		g, server := start(t, u)
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:\/b","_meta":{"progressToken":"p"}}}`))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`))
		w := server.Way(0)
		first, _ := w.NextRequest()
		_ = w.Next()
		time.Sleep(6 * time.Second)
		w.Die(errors.New("killed"))
		lost := c.Next()
		require.Contains(t, lost, `"id":2`)
		require.Contains(t, lost, `killed`)
		w = server.Way(1)
		again, frame := w.NextRequest()
		require.NotEqual(t, first, again)
		require.Equal(t, `{"jsonrpc":"2.0","id":`+again+`,"method":"resources/read","params":{"uri":"a:\/b","_meta":{"progressToken":`+again+`}}}`, frame)
		w.Say(progressOf(again))
		require.Contains(t, c.Next(), `"progressToken":"p"`)
		time.Sleep(5 * time.Second)
		late := c.Next()
		require.Contains(t, late, `"deadline":"total"`, "the time of both tries counts")
		require.Contains(t, late, `"elapsedMs":10`)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x"}}`))
		_ = w.Next()
		w.Die(errors.New("killed"))
		w = server.Way(2)
		_ = w.Next()
		w.Die(errors.New("killed again"))
		require.Contains(t, c.Next(), "killed again", "once, not for ever")
		synctest.Wait()
		require.EqualValues(t, 2, g.Stats().Retried)
		require.Zero(t, g.Stats().InFlight)
		_ = g.Close()
		synctest.Wait()
	})
}

// A call that waits to be sent again can be cancelled.
func TestRetryCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := start(t, shared())
		c, _ := join(g)
		say(t, c, "1", "tools/list")
		_ = server.Way(0).Next()
		server.Way(0).Die(errors.New("killed"))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		time.Sleep(time.Minute)
		require.Empty(t, c.Unread())
		require.Zero(t, g.Stats().InFlight)
		require.EqualValues(t, 1, g.Stats().Cancelled)
		_ = g.Close()
		synctest.Wait()
	})
}

func TestRetryNeverOfCalls(t *testing.T) {
	u := shared()
	u.Name, u.Opener, u.Idempotent = "tools", &fake.Server{}, []string{"tools/call"}
	_, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}})
	require.ErrorContains(t, err, "tools/call is never sent again")
}

// The second request of a read is sent after a while; whichever is answered first
// counts, and the other one is cancelled.
func TestHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.HedgeAfter = 100 * time.Millisecond
		g, server := start(t, u)
		c, _ := join(g)
		say(t, c, "1", "tools/list")
		say(t, c, "2", "tools/call")
		w := server.Way(0)
		synctest.Wait()
		first, _ := w.NextRequest()
		_, other := w.NextRequest()
		require.Contains(t, other, "tools/call")
		time.Sleep(150 * time.Millisecond)
		second, frame := w.NextRequest()
		require.Equal(t, `{"jsonrpc":"2.0","id":`+second+`,"method":"tools/list"}`, frame)
		w.Say(`{"jsonrpc":"2.0","id":` + second + `,"result":{"from":2}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"from":2}}`, c.Next())
		require.Equal(t, []fake.Cancel{{Call: number(t, first)}}, w.Cancels())
		w.Say(`{"jsonrpc":"2.0","id":` + first + `,"result":{"from":1}}`)
		require.Empty(t, c.Unread())

		say(t, c, "3", "tools/list")
		first, _ = w.NextRequest()
		time.Sleep(150 * time.Millisecond)
		second, _ = w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":` + first + `,"result":{"from":1}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":{"from":1}}`, c.Next())
		require.Equal(t, number(t, second), w.Cancels()[1].Call)

		say(t, c, "4", "tools/list")
		first, _ = w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":` + first + `,"result":{}}`)
		time.Sleep(time.Second)
		s := g.Stats()
		require.EqualValues(t, 2, s.Hedged, "what is answered in time is not asked twice")
		require.EqualValues(t, 3, s.Answered)
		require.EqualValues(t, 1, s.Dropped[gateway.LateAnswer])
		_ = g.Close()
		synctest.Wait()
	})
}

// A server that does not answer is left alone for a while, and tried again by one call.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout, u.Breaker = time.Second, gateway.Breaker{Failures: 2, Delay: 10 * time.Second}
		g, server := start(t, u)
		c, _ := join(g)
		for range 2 {
			say(t, c, "1", "m")
			_ = server.Way(0).Next()
			require.Contains(t, c.Next(), `"deadline":"total"`)
		}
		say(t, c, "2", "m")
		got := c.Next()
		require.Contains(t, got, `-32003`)
		require.Contains(t, got, `"retryAfterMs":`)
		time.Sleep(11 * time.Second)
		say(t, c, "3", "m")
		_ = serveNext(server.Way(0))
		require.Contains(t, c.Next(), `"result"`)
		say(t, c, "4", "m")
		_ = serveNext(server.Way(0))
		require.Contains(t, c.Next(), `"result"`)
		_ = g.Close()
		synctest.Wait()
	})
}
