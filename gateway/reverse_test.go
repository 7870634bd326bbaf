package gateway_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// own is an upstream of which each client has a way of its own.
func own() gateway.Upstream { return gateway.Upstream{Isolation: gateway.PerSession} }

const (
	elicit = `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"sure?"}}`
	logged = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
)

func call(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call"}` }

func answer(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

// What a server asks while one client alone has a call there is for that client, and
// the answer goes back under the server's id.
func TestSoleClientIsAsked(t *testing.T) {
	g, server := start(t, shared())
	a, _ := join(g)
	b, _ := join(g)
	require.NoError(t, a.Say(call(`1`)))
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":"x\u0031","method":"elicitation/create","params":{"message":"sure?"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"sure?"}}`, a.Next())
	w.Say(logged)
	require.Equal(t, logged, a.Next())
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`))
	require.Equal(t, `{"jsonrpc":"2.0","id":"x\u0031","result":{"action":"accept"}}`, w.Next())
	w.Say(answer(id))
	require.Equal(t, answer("1"), a.Next())
	require.Empty(t, b.Unread())
}

// With two clients at work, or none, nobody can be proved to be meant: the server is
// refused and the log line dropped, and both are counted.
func TestUnprovedIsRefused(t *testing.T) {
	g, server := start(t, shared())
	a, _ := join(g)
	b, _ := join(g)
	require.NoError(t, a.Say(call(`1`)))
	require.NoError(t, b.Say(call(`1`)))
	w := server.Way(0)
	idA, _ := w.NextRequest()
	idB, _ := w.NextRequest()
	w.Say(elicit)
	w.Say(logged)
	require.Contains(t, w.Next(), `"code":-32601`)
	w.Say(answer(idA))
	w.Say(answer(idB))
	require.Equal(t, answer("1"), a.Next())
	require.Equal(t, answer("1"), b.Next())
	w.Say(elicit)
	require.Contains(t, w.Next(), `"code":-32601`)
	require.Empty(t, a.Unread())
	require.Empty(t, b.Unread())
	s := g.Stats()
	require.EqualValues(t, 2, s.Dropped[gateway.UnownedAsk])
	require.EqualValues(t, 1, s.Dropped[gateway.UnownedNote])
}

// A server that is refused hears the reason that holds: nobody at work, one after
// another, or several; that clients share it is none by itself.
func TestRefusedAskSaysWhy(t *testing.T) {
	for _, isolation := range []gateway.Isolation{gateway.Shared, gateway.PerIdentity} {
		g, server := start(t, gateway.Upstream{Isolation: isolation})
		a, _ := join(g)
		b, _ := join(g)
		begin(t, a)
		w := server.Way(0)
		refused := func(why string) {
			t.Helper()
			w.Say(elicit)
			require.Contains(t, w.Next(), `"code":-32601,"message":"whom this is for cannot be told: `+why)
		}
		refused(`no client has a request in flight`)
		require.NoError(t, a.Say(call(`1`)))
		first, _ := w.NextRequest()
		require.NoError(t, b.Say(call(`1`)))
		second, _ := w.NextRequest()
		refused(`several clients that share this server have requests in flight`)
		w.Say(answer(first))
		refused(`one client has requests in flight, and another one had some a moment ago`)
		w.Say(answer(second))
		refused(`no request is in flight any more`)
	}
	g, server := startPlain(t, gateway.Shared)
	c, _ := join(g)
	require.NoError(t, c.Say(call(`1`)))
	_ = server.Way(0).Next()
	server.Way(0).Say(elicit)
	require.Contains(t, server.Way(0).Next(), `JSON-RPC alone does not say`)
}

// The proof has to hold when the server wrote, not when we read: a client whose call has
// just ended counts for a while, and longer if the server may still be at work for it.
func TestProofOutlastsCalls(t *testing.T) {
	for name, end := range map[string]struct {
		by    func(c *fake.Client, w *fake.Way, id string)
		doubt time.Duration
	}{
		"answered": {func(_ *fake.Client, w *fake.Way, id string) { w.Say(answer(id)) }, gateway.DefaultDoubtAnswered},
		"cancelled": {func(c *fake.Client, _ *fake.Way, _ string) {
			_ = c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		}, gateway.DefaultDoubtUnanswered},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := shared()
				u.Timeout = -1
				g, server := start(t, u)
				a, _ := join(g)
				b, _ := join(g)
				require.NoError(t, b.Say(call(`1`)))
				w := server.Way(0)
				id, _ := w.NextRequest()
				require.NoError(t, a.Say(call(`1`)))
				_ = w.Next()
				end.by(b, w, id)
				_ = b.Unread()
				w.Say(elicit)
				require.Contains(t, w.Next(), `"code":-32601`)
				time.Sleep(end.doubt - time.Millisecond)
				w.Say(elicit)
				require.Contains(t, w.Next(), `"code":-32601`)
				time.Sleep(2 * time.Millisecond)
				w.Say(elicit)
				require.Contains(t, a.Next(), `"elicitation/create"`)
				require.Empty(t, b.Unread())
				_ = g.Close()
				synctest.Wait()
			})
		})
	}
}

// A way of a client's own proves whose everything on it is.
func TestOwnWayIsAsked(t *testing.T) {
	g, server := start(t, own())
	a, _ := join(g)
	b, _ := join(g)
	require.NoError(t, a.Say(call(`1`)))
	require.NoError(t, b.Say(call(`1`)))
	ways := map[*fake.Client]*fake.Way{}
	for n := range 2 {
		w := server.Way(n)
		w.Say(logged)
		for _, c := range []*fake.Client{a, b} {
			if len(c.Unread()) > 0 {
				ways[c] = w
			}
		}
	}
	require.Len(t, ways, 2)
	for c, w := range ways {
		_ = w.Next()
		w.Say(elicit)
		require.Equal(t, elicit, c.Next())
	}
}

// Two servers' progress tokens are the same; the client's progress goes to who asked.
func TestProgressOfReverseRequest(t *testing.T) {
	g, server := start(t, own())
	c, _ := join(g)
	require.NoError(t, c.Say(call(`1`)))
	w := server.Way(0)
	_ = w.Next()
	ask := func(id, token string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"sampling/createMessage","params":{"_meta":{"progressToken":` + token + `}}}`
	}
	w.Say(ask(`7`, `"t"`))
	w.Say(ask(`8`, `9`))
	require.Equal(t, ask(`1`, `1`), c.Next())
	require.Equal(t, ask(`2`, `2`), c.Next())
	progress := func(token string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1}}`
	}
	require.NoError(t, c.Say(progress(`2`)))
	require.NoError(t, c.Say(progress(`1`)))
	require.NoError(t, c.Say(progress(`3`)))
	require.NoError(t, c.Say(progress(`"1"`)))
	require.Equal(t, progress(`9`), w.Next())
	require.Equal(t, progress(`"t"`), w.Next())
	require.EqualValues(t, 2, g.Stats().Dropped[gateway.LateProgress])
}

// A client that goes leaves no server waiting for its answer.
func TestAskedClientGoes(t *testing.T) {
	g, server := start(t, shared())
	c, s := join(g)
	require.NoError(t, c.Say(call(`1`)))
	w := server.Way(0)
	_ = w.Next()
	w.Say(elicit)
	_ = c.Next()
	s.Gone(errors.New("reset"))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the client has gone"}}`, w.Next())
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.UnknownAnswer])
}

// A server withdraws what it asked, under the id that the client knows.
func TestServerWithdraws(t *testing.T) {
	g, server := start(t, own())
	c, _ := join(g)
	require.NoError(t, c.Say(call(`1`)))
	w := server.Way(0)
	_ = w.Next()
	w.Say(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}`)
	_ = c.Next()
	w.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}`)
	w.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"late"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"late"}}`, c.Next())
	require.NoError(t, c.Say(answer(`1`)))
	s := g.Stats()
	require.EqualValues(t, 1, s.Dropped[gateway.UnknownAnswer])
	require.EqualValues(t, 1, s.Dropped[gateway.UnknownCancel])
}

// Two id spaces: a server's ping under the id of a call in flight is answered, and the
// call completes.
func TestG03ServerPing(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
	require.Equal(t, answer(id), w.Next())
	w.Say(answer(id))
	require.Equal(t, answer("1"), c.Next())
}

// Only what is for all goes to all; answers, progress and logs have one owner.
func TestG13NothingIsBroadcast(t *testing.T) {
	g, server := start(t, shared())
	a, _ := join(g)
	b, _ := join(g)
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1}}}`))
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + id + `,"progress":1}}`)
	w.Say(logged)
	w.Say(answer(id))
	require.Len(t, a.Unread(), 3)
	require.Empty(t, b.Unread())
}

// What a client says of itself goes to the servers that it has for itself.
func TestClientNotes(t *testing.T) {
	const changed = `{"jsonrpc":"2.0", "method":"notifications/roots/list_changed"}`
	g, server := start(t, own())
	c, _ := join(g)
	require.NoError(t, c.Say(call(`1`)))
	w := server.Way(0)
	_ = w.Next()
	require.NoError(t, c.Say(changed))
	require.Equal(t, changed, w.Next())

	g, server = start(t, shared())
	c, _ = join(g)
	require.NoError(t, c.Say(call(`1`)))
	w = server.Way(0)
	id, _ := w.NextRequest()
	require.NoError(t, c.Say(changed))
	w.Say(answer(id))
	_ = c.Next()
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.ClientOnlyNote])
}

// The gateway tells a shared server what some clients can do; those that cannot are not
// asked.
func TestClientThatCannotIsNotAsked(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`))
	require.Contains(t, c.Next(), `"id":0,"result"`)
	require.NoError(t, c.Say(call(`1`)))
	w := server.Way(0)
	_ = w.Next()
	w.Say(elicit)
	require.Contains(t, w.Next(), `"code":-32601`)
	w.Say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	require.Contains(t, c.Next(), `"method":"roots/list"`)
}

// A notification to a server of plain JSON-RPC opens the way, and waits for it.
func TestPlainNotesWait(t *testing.T) {
	u := shared()
	u.Plain = true
	g, server := start(t, u)
	c, _ := join(g)
	for _, n := range []string{"1", "2"} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"note","params":[`+n+`]}`))
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	w := server.Way(0)
	require.Contains(t, w.Next(), `[1]`)
	require.Contains(t, w.Next(), `[2]`)
	require.Contains(t, w.Next(), `"method":"m"`)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"note","params":[3]}`))
	require.Contains(t, w.Next(), `[3]`)
	require.Empty(t, g.Stats().Dropped)
}
