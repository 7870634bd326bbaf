package gateway_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// callOnce makes a call and its answer.
func callOnce(t *testing.T, c *fake.Client, server *fake.Server) {
	t.Helper()
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, c.Next())
}

// A server that has nothing to do for long enough is ended, and begun anew, with what
// its client said of itself, for the next call.
func TestIdleServerRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{}
		g, counted := greeting(t, gateway.Upstream{IdleAfter: time.Minute}, server)
		said := ""
		server.Said = func(frame string) { said = frame + said }
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"mine":true}}`))
		c.Next()
		callOnce(t, c, server)
		time.Sleep(50 * time.Second)
		callOnce(t, c, server)
		time.Sleep(50 * time.Second) // a minute after the first call, but not after the second
		synctest.Wait()
		require.False(t, server.Way(0).Ended())
		time.Sleep(11 * time.Second)
		synctest.Wait()
		require.True(t, server.Way(0).Ended())
		require.Equal(t, 1, server.Opened(), "nobody wants it")
		require.Zero(t, g.Ways()["tools"])

		counted.asked, said = nil, ""
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		w := server.Way(1)
		id, _ := w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		c.Next()
		require.Equal(t, []string{"initialize", "notifications/initialized"}, counted.asked)
		require.Contains(t, said, `{"mine":true}`)
		require.Equal(t, 1, g.Ways()["tools"])
	})
}

// A call that takes long keeps its server, and so does a question to the client.
func TestBusyServerDoesNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{}
		g, _ := greeting(t, gateway.Upstream{IdleAfter: time.Second, Timeout: -1}, server)
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		w := server.Way(0)
		id, _ := w.NextRequest()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.False(t, w.Ended())
		w.Say(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.False(t, w.Ended())
		require.Contains(t, c.Next(), "roots/list")
		c.Next()
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.True(t, w.Ended())
	})
}

// Who subscribed to a resource may hear of it whenever it changes.
func TestSubscribedServerDoesNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{Answers: true}
		g, _ := greeting(t, gateway.Upstream{IdleAfter: time.Second}, server)
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:b"}}`))
		require.Contains(t, c.Next(), `"result":{}`)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.False(t, server.Way(0).Ended())
		server.Way(0).Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}`)
		require.Contains(t, c.Next(), "updated")
	})
}

// There are never more ways than may be: a call that would need one more is refused,
// with when to come back, until one is given back.
func TestMaxWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{}
		g, _ := greeting(t, gateway.Upstream{MaxWays: 2}, server)
		a, _ := join(g)
		b, sb := join(g)
		c, _ := join(g)
		server.Answers = true
		for _, c := range []*fake.Client{a, b} {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
			c.Next()
		}
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		got := c.Next()
		require.Contains(t, got, `"code":-32004`)
		require.Contains(t, got, `"retryAfterMs":1000`)
		require.Equal(t, 2, server.Opened())
		require.NoError(t, a.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		require.Contains(t, a.Next(), `"result":{}`, "who is in is not concerned")
		sb.Gone(nil)
		synctest.Wait()
		require.Equal(t, 1, g.Ways()["tools"])
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, c.Next())
		require.Equal(t, 3, server.Opened())
		require.NoError(t, g.Close())
		require.Zero(t, g.Ways()["tools"])
	})
}

// A call that comes while its server is being ended waits until it has gone: there are
// never two. No call is lost, whenever it comes.
func TestCallWhileServerGoesToRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for late := range 20 {
			server := &fake.Server{Answers: true, Lingers: 5 * time.Millisecond}
			g, _ := greeting(t, gateway.Upstream{IdleAfter: time.Second}, server)
			c, _ := join(g)
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":0,"method":"m"}`))
			require.Contains(t, c.Next(), `"result"`)
			time.Sleep(time.Second + time.Duration(late-10)*time.Millisecond)
			require.NoError(t, c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, late)))
			require.Contains(t, c.Next(), `"result"`)
			require.LessOrEqual(t, server.Most(), 1)
			require.NoError(t, g.Close())
		}
	})
}
