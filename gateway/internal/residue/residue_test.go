package residue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/link"
)

// A call that is pending, or that has no end, or two, does not add up.
func TestAddsUp(t *testing.T) {
	require.True(t, residue.AddsUp(gateway.Stats{Requests: 6, Answered: 1, Failed: 1, Expired: 1, Cancelled: 1, Lost: 1, Refused: 1}))
	for _, s := range []gateway.Stats{
		{Requests: 1}, {Requests: 1, Answered: 2}, {InFlight: 1}, {Waiting: 1}, {Admitted: 1}, {Pending: 1},
	} {
		require.False(t, residue.AddsUp(s), "%+v", s)
	}
}

// A call is seen while the server has it, and not after that.
func TestCalls(t *testing.T) {
	base := residue.Measure()
	server := &fake.Server{}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "tools", Opener: server, Isolation: gateway.Shared}}})
	require.NoError(t, err)
	c := &fake.Client{Who: link.Peer{Transport: "fake"}}
	c.Join(g.Join(c))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	id, _ := server.Way(0).NextRequest()
	s := g.Stats()
	require.Equal(t, 1, s.InFlight)
	require.NotZero(t, s.Admitted, "by the gate of the gateway and by that of the upstream")
	require.Equal(t, 1, s.Pending)
	server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.EqualValues(t, 1, residue.Calls(t, g).Answered)
	require.NoError(t, g.Close())
	base.Returns(t, 1<<20)
}
