package peer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/server"
)

// Every server that is a contender answers the load with the text it was sent, and
// refuses a tool that it has not.
func TestToolServersAnswerTheLoad(t *testing.T) {
	for _, name := range []string{server.OurTools, server.GoSDKTools, server.MCPGoTools} {
		t.Run(name, func(t *testing.T) {
			p := peer.ToolLoad
			p.Server = name
			c, err := p.Open(link(t, p, false))
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			w := peer.Work{Name: server.Tool, Text: strings.Repeat("x", 99) + "y", Timeout: 10 * time.Second}
			call, err := c.Caller(w)
			require.NoError(t, err)
			require.NoError(t, call())
			plan := load.Plan{Warm: time.Millisecond, Window: 5 * time.Millisecond, Most: 10 * time.Second, Budget: 10 * time.Second}
			f, err := load.Pumped(64, plan, load.Meter{}, func(l *load.Loop) error { return c.Pump(w, 64, l) })
			require.NoError(t, err)
			require.Positive(t, f[load.Rate])
			w.Name = "nothing"
			call, err = c.Caller(w)
			require.NoError(t, err)
			require.Error(t, call())
		})
	}
	p := peer.ToolLoad
	p.Server = server.Lines // echoes the arguments, which are no answer of a tool
	c, err := p.Open(link(t, p, false))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	call, err := c.Caller(peer.Work{Name: server.Tool, Text: "xy", Timeout: 10 * time.Second})
	require.NoError(t, err)
	require.ErrorIs(t, call(), peer.ErrEcho)
}
