package gateway_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/limit"
)

// Limits that are set while calls go on count at once: who waits goes in as far as there
// is room, who is in stays, and nobody is sent away.
func TestConfigureLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{}
		u := shared()
		u.Name, u.Opener, u.Plain = "tools", server, true
		o := gateway.Options{Upstreams: []gateway.Upstream{u}, Limit: limit.Options{MaxInFlight: 1}}
		g, err := gateway.New(o)
		require.NoError(t, err)
		c, _ := join(g)
		for _, id := range []string{"1", "2", "3"} {
			say(t, c, id, "m")
		}
		synctest.Wait()
		require.Equal(t, 2, g.Stats().Waiting)
		o.Limit.MaxInFlight, o.Rate, o.Burst = 2, 1e-6, 1
		require.NoError(t, g.Configure(o))
		require.Equal(t, 1, g.Stats().Waiting)
		require.Equal(t, 1, server.Opened(), "it is the same upstream")
		say(t, c, "4", "m")
		require.Empty(t, c.Unread(), "its allowance is new")
		say(t, c, "5", "m")
		require.Contains(t, c.Next(), `too many calls a second`)
		o.Limit.MaxInFlight, o.Rate = 1, 0
		require.NoError(t, g.Configure(o))
		for range 4 {
			id, _ := server.Way(0).NextRequest()
			server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":1}`)
		}
		require.Len(t, c.Unread(), 4)
		say(t, c, "5", "m")
		require.Empty(t, c.Unread())
		require.Error(t, g.Configure(gateway.Options{}), "no upstream")
		require.Equal(t, 1, g.Stats().InFlight)
		_ = g.Close()
		synctest.Wait()
		require.ErrorIs(t, g.Configure(o), gateway.ErrClosed)
	})
}

// A gateway that begins to merge, or ends it, tells its clients, and calls that were sent
// before are answered.
func TestConfigureMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &fake.Server{}, &fake.Server{}
		up := func(name string, s *fake.Server) gateway.Upstream {
			return gateway.Upstream{Name: name, Opener: s, Isolation: gateway.Shared}
		}
		one := gateway.Options{Upstreams: []gateway.Upstream{up("a", a)}}
		g, err := gateway.New(one)
		require.NoError(t, err)
		c, _ := join(g)
		begin(t, c)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`))
		number, _ := a.Way(0).NextRequest()
		two := gateway.Options{Upstreams: []gateway.Upstream{up("a", a), up("b", b)}, Merge: true}
		require.NoError(t, g.Configure(two))
		require.Len(t, c.Unread(), 3, "lists have changed")
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b__y"}}`))
		other, frame := b.Way(0).NextRequest()
		require.Contains(t, frame, `"name":"y"`)
		require.NoError(t, g.Configure(one))
		require.Len(t, c.Unread(), 3)
		a.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"result":1}`)
		b.Way(0).Say(`{"jsonrpc":"2.0","id":` + other + `,"result":2}`)
		require.Equal(t, []string{`{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":2,"result":2}`}, c.Unread())
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"b__y"}}`))
		_, frame = a.Way(0).NextRequest()
		require.Contains(t, frame, `"name":"b__y"`)
		_ = g.Close()
		synctest.Wait()
	})
}
