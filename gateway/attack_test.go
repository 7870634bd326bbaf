package gateway_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// A client that guesses reaches nothing of another's: not by the other's ids, nor by the
// numbers under which the server knows the calls.
func TestNoClientReachesAnother(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{},"resources":{"subscribe":true}},"serverInfo":{"name":"fake","version":"1"}}`
	victim, _ := join(g)
	evil, _ := join(g)
	require.NoError(t, victim.Say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":"tok"}}}`))
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"_meta":{"progressToken":1}}}`)
	require.Contains(t, victim.Next(), `"elicitation/create"`)

	for _, guess := range []string{`7`, id, `1`, `"q"`, `"tok"`} {
		require.NoError(t, evil.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+guess+`}}`))
		require.NoError(t, evil.Say(`{"jsonrpc":"2.0","id":`+guess+`,"result":{"action":"accept"}}`))
		require.NoError(t, evil.Say(`{"jsonrpc":"2.0","id":`+guess+`,"error":{"code":1,"message":"x"}}`))
		require.NoError(t, evil.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+guess+`,"progress":1}}`))
		require.NoError(t, evil.Say(unsubscribe(`"u"`, `x:/r`)))
		require.Equal(t, answer(`"u"`), evil.Next())
	}
	require.Empty(t, w.Cancels())
	require.Empty(t, victim.Unread())
	require.Empty(t, evil.Unread())

	// What the victim subscribed to stays, whoever unsubscribes.
	require.NoError(t, victim.Say(subscribe(`8`, `x:/r`)))
	sub, _ := w.NextRequest()
	w.Say(answer(sub))
	require.Equal(t, answer(`8`), victim.Next())
	require.NoError(t, evil.Say(unsubscribe(`1`, `x:/r`)))
	require.Equal(t, answer(`1`), evil.Next())
	w.Say(updated(`x:/r`))
	require.Equal(t, updated(`x:/r`), victim.Next())
	require.Empty(t, evil.Unread())

	// The same id and token as the victim's are another call.
	require.NoError(t, evil.Say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":"tok"}}}`))
	other, _ := w.NextRequest()
	for i, number := range []string{other, id} {
		w.Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, number, i))
		w.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%d}`, number, i))
	}
	require.Contains(t, evil.Next(), `"progress":0`)
	require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":0}`, evil.Next())
	require.Contains(t, victim.Next(), `"progress":1`)
	require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":1}`, victim.Next())
	require.NoError(t, victim.Say(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`))
	require.Equal(t, `{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}`, w.Next())
	s := g.Stats()
	require.Zero(t, s.InFlight)
	require.EqualValues(t, 10, s.Dropped[gateway.UnknownAnswer])
	require.EqualValues(t, 5, s.Dropped[gateway.UnknownCancel])
	require.EqualValues(t, 5, s.Dropped[gateway.LateProgress])
}

// However a cancel is spelt (PHP writes notifications\/cancelled), it names the client's
// own call or none: the number that the server knows goes nowhere, as a request neither.
func TestAttackOddCancels(t *testing.T) {
	for name, plain := range map[string]bool{"MCP": false, "plain": true} {
		t.Run(name, func(t *testing.T) {
			u := shared()
			u.Plain = plain
			g, server := start(t, u)
			victim, _ := join(g)
			evil, _ := join(g)
			require.NoError(t, victim.Say(call(`7`)))
			w := server.Way(0)
			id, _ := w.NextRequest()
			spelt := []string{`notifications/cancelled`, `notifications\/cancelled`, `notifications/cancell\u0065d`, `$/cancelRequest`, `$\/cancelRequest`}
			for _, method := range spelt {
				params := `"params":{"requestId":` + id + `,"id":` + id + `}}`
				require.NoError(t, evil.Say(`{"jsonrpc":"2.0","method":"`+method+`",`+params))
				require.NoError(t, evil.Say(`{"jsonrpc":"2.0","id":1,"method":"`+method+`",`+params))
				require.Contains(t, evil.Next(), `"id":1,"error":{"code":-32600`, method)
			}
			require.NoError(t, evil.Say(call(`8`)))
			last, frame := w.NextRequest()
			require.Equal(t, call(last), frame, "and nothing before it")
			require.Empty(t, w.Cancels())
			w.Say(answer(id))
			require.Equal(t, answer(`7`), victim.Next())
		})
	}
}

// The same spelling of one's own cancel, and of what a server says of a call.
func TestEscapedMethods(t *testing.T) {
	for name, isolation := range map[string]gateway.Isolation{"shared": gateway.Shared, "one's own": gateway.PerSession} {
		t.Run(name, func(t *testing.T) {
			g, server := start(t, gateway.Upstream{Isolation: isolation})
			c, _ := join(g)
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"x","_meta":{"progressToken":"p"}}}`))
			w := server.Way(0)
			id, _ := w.NextRequest()
			w.Say(`{"jsonrpc":"2.0","method":"notifications\/progress","params":{"progressToken":` + id + `,"progress":1}}`)
			require.Equal(t, `{"jsonrpc":"2.0","method":"notifications\/progress","params":{"progressToken":"p","progress":1}}`, c.Next())
			w.Say(`{"jsonrpc":"2.0","method":"notifications\/tools\/list_changed"}`)
			require.Equal(t, `{"jsonrpc":"2.0","method":"notifications\/tools\/list_changed"}`, c.Next())
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications\/cancelled","params":{"requestId":1}}`))
			require.Len(t, w.Cancels(), 1)
			require.Equal(t, number(t, id), w.Cancels()[0].Call)
			require.Zero(t, g.Stats().InFlight)
		})
	}
}

// A cancel goes to the server that has the call, and to no other.
func TestX01CancelGoesToItsServer(t *testing.T) {
	servers := []*fake.Server{{}, {}}
	g := mergedOf(t, servers[0], servers[1])
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":101,"method":"tools/call","params":{"name":"a__slow"}}`))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":102,"method":"tools/call","params":{"name":"b__fast"}}`))
	slow, _ := servers[0].Way(0).NextRequest()
	fast, _ := servers[1].Way(0).NextRequest()
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":101}}`))
	cancels := servers[0].Way(0).Cancels()
	require.Len(t, cancels, 1)
	require.Equal(t, number(t, slow), cancels[0].Call)
	require.Empty(t, servers[1].Way(0).Cancels())
	servers[1].Way(0).Say(answer(fast))
	require.Equal(t, answer(`102`), c.Next())
}
