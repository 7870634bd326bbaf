package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

type routerFunc func(s *gateway.Session, m *codec.Message, d *gateway.Decision)

func (f routerFunc) Route(s *gateway.Session, m *codec.Message, d *gateway.Decision) { f(s, m, d) }

// routed makes a gateway of two servers, a and b, behind a router.
func routed(t *testing.T, r routerFunc) (g *gateway.Gateway, a, b *fake.Server) {
	t.Helper()
	a, b = &fake.Server{}, &fake.Server{}
	g, err := gateway.New(gateway.Options{Router: r, Upstreams: []gateway.Upstream{
		{Name: "a", Opener: a, Isolation: gateway.Shared}, {Name: "b", Opener: b, Isolation: gateway.Shared},
	}})
	require.NoError(t, err)
	over(t, g)
	return g, a, b
}

// A router sends a request to a server, changes it, answers it or refuses it.
func TestRouterDecides(t *testing.T) {
	g, a, b := routed(t, func(_ *gateway.Session, m *codec.Message, d *gateway.Decision) {
		switch string(m.Method()) {
		case "to b":
			d.Upstream, d.Edits = "b", []codec.Edit{{Span: m.Envelope.Method, Text: []byte("changed")}}
		case "known":
			d.Answer = []byte(`[1.0]`)
		case "bad":
			d.Refusal = &codec.Error{Code: -7, Message: "no"}
		case "nowhere":
			d.Upstream = "c"
		case "panic":
			panic("router")
		}
	})
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"to b"}`))
	id, frame := b.Way(0).NextRequest()
	require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"changed"}`, frame)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"x"}`))
	require.Contains(t, a.Way(0).Next(), `"method":"x"`)
	require.Equal(t, `"result":[1.0]}`, ask(t, c, "3", "known", ""))
	require.Equal(t, `"error":{"code":-7,"message":"no"}}`, ask(t, c, "4", "bad", ""))
	require.Contains(t, ask(t, c, "5", "nowhere", ""), "no such upstream")
	require.Contains(t, ask(t, c, "6", "panic", ""), `"code":-32603`)
	require.EqualValues(t, 1, g.Stats().Panics)
}

// A router answers later what it takes, once, unless the client has cancelled.
func TestRouterTakes(t *testing.T) {
	replies := make(chan gateway.Reply, 1)
	g, _, _ := routed(t, func(_ *gateway.Session, m *codec.Message, d *gateway.Decision) {
		d.Take = func(reply gateway.Reply) {
			if string(m.Method()) == "panic" {
				panic("taker")
			}
			replies <- reply
		}
	})
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"\u0031","method":"m"}`))
	reply := <-replies
	require.Empty(t, c.Unread())
	require.True(t, reply([]byte(`7`), nil))
	require.False(t, reply([]byte(`8`), nil))
	require.Equal(t, `{"jsonrpc":"2.0","id":"\u0031","result":7}`, c.Next())
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	reply = <-replies
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	require.False(t, reply(nil, &codec.Error{Code: -1, Message: "late"}))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	require.True(t, (<-replies)(nil, &codec.Error{Code: -1, Message: "no"}))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`, c.Next())
	require.Contains(t, ask(t, c, "2", "panic", ""), `"code":-32603`)
	s := g.Stats()
	require.Zero(t, s.InFlight)
	require.Equal(t, s.Requests, s.Answered+s.Failed+s.Cancelled+s.Refused, "%+v", s)
}
