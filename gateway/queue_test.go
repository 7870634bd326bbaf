package gateway_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
)

func say(t *testing.T, c *fake.Client, id, method string) {
	t.Helper()
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"}`))
}

// serveNext answers the next request of w, and gives its text.
func serveNext(w *fake.Way) string {
	id, frame := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	return frame
}

// Clients wait in turn, and the time in the queue is not the call's own.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout, u.Limit.MaxInFlight = time.Second, 1
		g, server := start(t, u)
		a, _ := join(g)
		b, _ := join(g)
		for i := range 4 {
			say(t, a, fmt.Sprint(i), fmt.Sprintf("a%d", i))
		}
		say(t, b, "0", "b0")
		synctest.Wait()
		require.Equal(t, 4, g.Stats().Waiting)
		w := server.Way(0)
		for _, method := range []string{"a0", "a1", "b0", "a2", "a3"} {
			id, frame := w.NextRequest()
			require.Contains(t, frame, method)
			time.Sleep(900 * time.Millisecond) // more than the call's own time, for those that have waited
			w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		}
		for range 4 {
			require.Contains(t, a.Next(), `"result"`)
		}
		require.Contains(t, b.Next(), `"result"`)
		require.Zero(t, g.Stats().Waiting)
		_ = g.Close()
		synctest.Wait()
	})
}

// Who waits for too long is told which deadline it was, and when to come back; the
// server never hears of it.
func TestB02QueueDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Limit = limit.Options{MaxInFlight: 1, MaxQueued: 2, QueueWait: time.Second}
		u.Methods = map[string]gateway.Deadlines{"hurry": {Queue: 10 * time.Millisecond}, "patient": {Queue: -1}}
		g, server := start(t, u)
		c, _ := join(g)
		say(t, c, "1", "m")
		synctest.Wait() // it is sent
		begun := time.Now()
		say(t, c, "2", "hurry")
		say(t, c, "3", "patient")
		say(t, c, "4", "m")
		refused := c.Next()
		require.Contains(t, refused, `"id":4`)
		require.Contains(t, refused, `-32004`)
		require.Contains(t, refused, `"retryAfterMs":1000`)
		late := c.Next()
		require.Equal(t, 10*time.Millisecond, time.Since(begun))
		require.Contains(t, late, `"id":2`)
		require.Contains(t, late, `-32001`)
		require.Contains(t, late, `"deadline":"queue"`)
		require.Contains(t, late, `"upstream":"tools"`)
		require.Contains(t, late, `"elapsedMs":10`)
		require.Contains(t, late, `"retryAfterMs":1000`)
		time.Sleep(20 * time.Second)
		w := server.Way(0)
		require.Contains(t, serveNext(w), `"m"`)
		require.Contains(t, serveNext(w), `"patient"`)
		require.Contains(t, c.Next(), `"id":1`)
		require.Contains(t, c.Next(), `"id":3`)
		s := g.Stats()
		require.EqualValues(t, 1, s.Expired)
		require.EqualValues(t, 1, s.Refused)
		require.EqualValues(t, 2, s.Answered)
		_ = g.Close()
		synctest.Wait()
	})
}

// Four calls wait for a server that does not read: a fifth with a deadline of 10 ms fails
// by then, and nothing of it is sent when the server reads again.
func TestB02ServerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Limit = limit.Options{MaxQueued: 5}
		u.Methods = map[string]gateway.Deadlines{"hurry": {Queue: 10 * time.Millisecond}}
		g, server := start(t, u)
		c, _ := join(g)
		say(t, c, "0", "first")
		w := server.Way(0)
		_ = serveNext(w)
		_ = c.Next()
		w.Fill(true)
		for id := range 4 {
			say(t, c, fmt.Sprint(id), "m")
		}
		begun := time.Now()
		say(t, c, "4", "hurry")
		require.Equal(t, 5, g.Stats().Waiting)
		late := c.Next()
		require.InDelta(t, 10*time.Millisecond, time.Since(begun), float64(2*time.Millisecond))
		require.Contains(t, late, `"id":4`)
		require.Contains(t, late, `"deadline":"queue"`)
		w.Fill(false)
		for range 4 {
			require.Contains(t, serveNext(w), `"m"`)
			require.Contains(t, c.Next(), `"result"`)
		}
		say(t, c, "5", "last")
		require.Contains(t, serveNext(w), `"last"`, "nothing of the fifth was sent")
		require.Empty(t, w.Cancels())
		_ = g.Close()
		synctest.Wait()
	})
}

// Who is cancelled, or goes, while it waits leaves the queue, and takes no place.
func TestQueuedCallsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Limit.MaxInFlight = 1
		g, server := start(t, u)
		a, _ := join(g)
		b, s := join(g)
		say(t, a, "1", "m")
		say(t, a, "2", "m")
		say(t, b, "1", "m")
		require.NoError(t, a.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`))
		s.Gone(errors.New("reset"))
		say(t, a, "3", "last")
		w := server.Way(0)
		_ = serveNext(w)
		require.Contains(t, serveNext(w), "last")
		require.Contains(t, a.Next(), `"id":1`)
		require.Contains(t, a.Next(), `"id":3`)
		require.Empty(t, a.Unread())
		require.Empty(t, b.Unread())
		require.Empty(t, w.Cancels(), "the server has not heard of them")
		require.EqualValues(t, 2, g.Stats().Cancelled)
		require.Zero(t, g.Stats().InFlight)
		_ = g.Close()
		synctest.Wait()
	})
}

// chooser sends each call to the upstream that its method names.
type chooser struct{}

func (chooser) Route(_ *gateway.Session, m *codec.Message, d *gateway.Decision) {
	d.Upstream = string(m.Method())
}

// The gateway's own bound is over all upstreams; one that is full leaves it alone.
func TestGatewayBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &fake.Server{}, &fake.Server{}
		g, err := gateway.New(gateway.Options{
			Router: chooser{}, Limit: limit.Options{MaxInFlight: 2},
			Upstreams: []gateway.Upstream{
				{Name: "one", Opener: one, Isolation: gateway.Shared, Limit: limit.Options{MaxInFlight: 1}},
				{Name: "two", Opener: two, Isolation: gateway.Shared},
			},
		})
		require.NoError(t, err)
		c, _ := join(g)
		for i, upstream := range []string{"one", "one", "one", "two", "two"} {
			say(t, c, fmt.Sprint(i), upstream)
		}
		synctest.Wait()
		require.Equal(t, 3, g.Stats().Waiting, "two for one, one for the gateway")
		_ = serveNext(two.Way(0))
		_ = serveNext(two.Way(0))
		for range 3 {
			_ = serveNext(one.Way(0))
		}
		for range 5 {
			require.Contains(t, c.Next(), `"result"`)
		}
		require.Zero(t, g.Stats().Waiting)
		_ = g.Close()
		synctest.Wait()
	})
}

// A server that does not read for a while has calls wait, in order, and loses none.
func TestServerStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout, u.Limit.QueueWait = 2*time.Second, 10*time.Second
		g, server := start(t, u)
		c, _ := join(g)
		say(t, c, "0", "m0")
		w := server.Way(0)
		_ = serveNext(w)
		_ = c.Next()
		w.Fill(true)
		for i := range 5 {
			say(t, c, fmt.Sprint(i), fmt.Sprintf("m%d", i))
		}
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`))
		time.Sleep(5 * time.Second)
		require.Empty(t, c.Unread())
		w.Fill(false)
		for _, i := range []int{0, 1, 3, 4} {
			require.Contains(t, serveNext(w), fmt.Sprintf(`"m%d"`, i))
			require.Contains(t, c.Next(), fmt.Sprintf(`"id":%d`, i))
		}
		w.Fill(true)
		say(t, c, "9", "m9")
		time.Sleep(11 * time.Second)
		late := c.Next()
		require.Contains(t, late, `"deadline":"queue"`)
		require.Contains(t, late, `did not read`)
		say(t, c, "10", "m10")
		w.Die(errors.New("killed"))
		synctest.Wait()
		require.Contains(t, serveNext(server.Way(1)), "m10", "what was never written goes the next way")
		require.Contains(t, c.Next(), `"id":10`)
		s := g.Stats()
		require.Equal(t, s.Requests, s.Answered+s.Cancelled+s.Expired, "%+v", s)
		require.Zero(t, s.Waiting)
		_ = g.Close()
		synctest.Wait()
	})
}

// Who a client is, is what limits go by: another session or connection of it has no
// allowance of its own, and another client has.
func TestLimitsGoByWhoTheClientIs(t *testing.T) {
	for name, c := range map[string]struct {
		first, second link.Peer
		same          bool
	}{
		"two sessions of one identity":   {link.Peer{Transport: "http", Identity: "a", Session: "1", Address: "10.0.0.1:1"}, link.Peer{Transport: "http", Identity: "a", Session: "2", Address: "10.0.0.2:1"}, true},
		"two identities at one address":  {link.Peer{Transport: "http", Identity: "a", Session: "1", Address: "10.0.0.1:1"}, link.Peer{Transport: "http", Identity: "b", Session: "2", Address: "10.0.0.1:1"}, false},
		"two sessions at one address":    {link.Peer{Transport: "http", Session: "1", Address: "10.0.0.1:1"}, link.Peer{Transport: "http", Session: "2", Address: "10.0.0.1:2"}, true},
		"two addresses":                  {link.Peer{Transport: "http", Session: "1", Address: "10.0.0.1:1"}, link.Peer{Transport: "http", Session: "2", Address: "10.0.0.2:1"}, false},
		"a session and an exchange":      {link.Peer{Transport: "http", Session: "1", Address: "10.0.0.1:1"}, link.Peer{Transport: "http", Alone: true, Address: "10.0.0.1:2"}, true},
		"two websockets":                 {link.Peer{Transport: "websocket", Address: "10.0.0.1:1"}, link.Peer{Transport: "websocket", Address: "10.0.0.1:2"}, true},
		"one family in the other":        {link.Peer{Transport: "tcp", Address: "10.0.0.1:1"}, link.Peer{Transport: "tcp", Address: "[::ffff:10.0.0.1]:2"}, true},
		"one network of IPv6":            {link.Peer{Transport: "tcp", Address: "[2001:db8::1]:1"}, link.Peer{Transport: "tcp", Address: "[2001:db8::2:0:0:1]:1"}, true},
		"two networks of IPv6":           {link.Peer{Transport: "tcp", Address: "[2001:db8::1]:1"}, link.Peer{Transport: "tcp", Address: "[2001:db8:0:1::1]:1"}, false},
		"an address that is a name":      {link.Peer{Transport: "http", Identity: "10.0.0.1", Session: "1", Address: "10.0.0.2:1"}, link.Peer{Transport: "tcp", Address: "10.0.0.1:1"}, false},
		"two connections to a file":      {link.Peer{Transport: "unix", Address: "@"}, link.Peer{Transport: "unix", Address: "@"}, false},
		"connections with the file's id": {link.Peer{Transport: "unix", Identity: "local", Address: "@"}, link.Peer{Transport: "unix", Identity: "local", Address: "@"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := shared()
				u.Name, u.Opener, u.Plain = "tools", &fake.Server{}, true
				g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}, Rate: 1, Burst: 1})
				require.NoError(t, err)
				a, b := &fake.Client{Who: c.first}, &fake.Client{Who: c.second}
				a.Join(g.Join(a))
				b.Join(g.Join(b))
				say(t, a, "1", "m")
				require.Empty(t, a.Unread())
				say(t, b, "1", "m")
				if c.same {
					require.Contains(t, b.Next(), `"message":"too many calls a second; come again in 1s"`)
				} else {
					require.Empty(t, b.Unread())
				}
				_ = g.Close()
				synctest.Wait()
			})
		})
	}
}

func TestRateOfOneClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{}
		u := shared()
		u.Name, u.Opener = "tools", server
		g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}, Rate: 1, Burst: 2})
		require.NoError(t, err)
		a, _ := join(g)
		b, _ := join(g)
		for i := range 3 {
			say(t, a, fmt.Sprint(i), "m")
		}
		got := a.Next()
		require.Contains(t, got, `"id":2`)
		require.Contains(t, got, `-32004`)
		require.Contains(t, got, `"retryAfterMs":1000`)
		say(t, b, "1", "m")
		require.Empty(t, b.Unread())
		time.Sleep(time.Second)
		say(t, a, "3", "m")
		require.Empty(t, a.Unread())
		_ = g.Close()
		synctest.Wait()
	})
}
