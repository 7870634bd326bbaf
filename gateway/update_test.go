package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// byMethod sends each method to the upstream of its name.
type byMethod struct{}

func (byMethod) Route(_ *gateway.Session, m *codec.Message, d *gateway.Decision) {
	d.Upstream = string(m.Method())
}

// An update takes servers away from under their clients, and no call is dropped: what is
// in flight at the old one is answered by it, what comes later by the new one, and a
// server that has not changed notices nothing.
func TestUpdateDropsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, before, after := &fake.Server{}, &fake.Server{}, &fake.Server{}
		up := func(name string, s *fake.Server) gateway.Upstream {
			return gateway.Upstream{Name: name, Opener: s, Isolation: gateway.Shared, Plain: true}
		}
		g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{up("kept", kept), up("moved", before)}, Router: byMethod{}})
		require.NoError(t, err)
		defer func() { _ = g.Close() }()
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"moved"}`))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"kept"}`))
		old, _ := before.Way(0).NextRequest()
		same, _ := kept.Way(0).NextRequest()

		require.NoError(t, g.Update([]gateway.Upstream{up("kept", kept), up("moved", after)}, byMethod{}))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":3,"method":"moved"}`))
		id, _ := after.Way(0).NextRequest()
		after.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":"new"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":"new"}`, c.Next())

		time.Sleep(20 * time.Second) // of the bubble's own
		require.False(t, before.Way(0).Ended(), "it has a call")
		before.Way(0).Say(`{"jsonrpc":"2.0","id":` + old + `,"result":"old"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"old"}`, c.Next())
		kept.Way(0).Say(`{"jsonrpc":"2.0","id":` + same + `,"result":"kept"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":"kept"}`, c.Next())

		time.Sleep(5 * time.Second)
		require.True(t, before.Way(0).Ended(), "its calls are over")
		require.False(t, kept.Way(0).Ended())
		require.Equal(t, 1, kept.Opened())
		require.EqualValues(t, 3, g.Stats().Answered)
	})
}

// Names that are gone are refused, options that are wrong change nothing.
func TestUpdateChecks(t *testing.T) {
	a, b := &fake.Server{}, &fake.Server{}
	one := gateway.Upstream{Name: "a", Opener: a, Isolation: gateway.Shared, Plain: true}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{one, {Name: "b", Opener: b}}, Router: byMethod{}})
	require.NoError(t, err)
	for _, wrong := range [][]gateway.Upstream{nil, {{Opener: a}}, {{Name: "a"}}, {one, one}, {{Name: "a", Opener: a, Isolation: 9}}} {
		require.Error(t, g.Update(wrong, nil))
	}
	states := g.Upstreams()
	require.Len(t, states, 2)
	require.Equal(t, "a", states[0].Name)
	require.Equal(t, "fake", states[0].Opener)

	require.NoError(t, g.Update([]gateway.Upstream{one}, byMethod{}))
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"b"}`))
	require.Contains(t, c.Next(), "no such upstream")
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"a"}`))
	_, _ = a.Way(0).NextRequest()
	states = g.Upstreams()
	require.Len(t, states, 1)
	require.Equal(t, 1, states[0].Up)
	require.Equal(t, 1, states[0].InFlight)
	require.NoError(t, g.Close())
	require.ErrorIs(t, g.Update([]gateway.Upstream{one}, nil), gateway.ErrClosed)
}
