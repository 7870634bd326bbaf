package gateway_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

const (
	toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	// modernMembers are the members of _meta that every request of the modern era has.
	modernMembers = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{},"roots":{}}`
	discovered    = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
)

// begin makes c a client of the older era.
func begin(t *testing.T, c *fake.Client) {
	t.Helper()
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`))
	require.Contains(t, c.Next(), `"id":"init","result"`)
}

func subscribe(id, uri string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"resources/subscribe","params":{"uri":"` + uri + `"}}`
}

func unsubscribe(id, uri string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"resources/unsubscribe","params":{"uri":"` + uri + `"}}`
}

func updated(uri string) string {
	return `{"jsonrpc":"2.0","method":"notifications/resources/updated", "params":{"uri":"` + uri + `"}}`
}

// A change is for all clients but those of the modern era, which have to listen.
func TestListChangedFansOut(t *testing.T) {
	g, server := start(t, shared())
	a, _ := join(g)
	b, _ := join(g)
	begin(t, a)
	begin(t, b)
	modern, _ := join(g)
	require.NoError(t, modern.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+modernMembers+`}}}`))
	w := server.Way(0)
	_ = w.Next()
	w.Say(toolsChanged)
	require.Equal(t, toolsChanged, a.Next())
	require.Equal(t, toolsChanged, b.Next())
	require.Empty(t, modern.Unread())
}

// The first subscribes, the last unsubscribes, and a client that goes counts.
func TestSubscriptionsAreCounted(t *testing.T) {
	g, server := start(t, shared())
	a, _ := join(g)
	b, gone := join(g)
	c, _ := join(g)
	require.NoError(t, a.Say(subscribe(`1`, `x:\/r`)))
	w := server.Way(0)
	id, frame := w.NextRequest()
	require.Equal(t, subscribe(id, `x:/r`), frame)
	require.NoError(t, b.Say(subscribe(`1`, `x:/r`)))
	require.Empty(t, b.Unread(), "the server has not answered yet")
	w.Say(answer(id))
	require.Equal(t, answer("1"), a.Next())
	require.Equal(t, answer("1"), b.Next())
	require.NoError(t, b.Say(subscribe(`2`, `x:/r`)))
	require.Equal(t, answer("2"), b.Next(), "once is enough")

	w.Say(updated(`x:/r`))
	require.Equal(t, updated(`x:/r`), a.Next())
	require.Equal(t, updated(`x:/r`), b.Next())
	w.Say(updated(`x:/r/part`))
	require.Equal(t, updated(`x:/r/part`), a.Next())
	_ = b.Next()
	w.Say(updated(`x:/rest`))
	require.NoError(t, a.Say(unsubscribe(`3`, `x:/r`)))
	require.Equal(t, answer("3"), a.Next())
	w.Say(updated(`x:/r`))
	require.Equal(t, updated(`x:/r`), b.Next())
	require.Empty(t, a.Unread())
	require.Empty(t, c.Unread())
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.UnownedNote])

	gone.Gone(errors.New("reset"))
	id, frame = w.NextRequest()
	require.Equal(t, unsubscribe(id, `x:/r`), frame)
	w.Say(answer(id))
	require.NoError(t, c.Say(unsubscribe(`1`, `x:/r`)))
	require.Equal(t, answer("1"), c.Next(), "it never had")
}

// What the server says to the first is said to all that waited for it.
func TestSubscriptionRefused(t *testing.T) {
	g, server := start(t, shared())
	a, _ := join(g)
	require.NoError(t, a.Say(subscribe(`1`, `x:/r`)))
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32002,"message":"no such resource"}}`)
	require.Contains(t, a.Next(), `"code":-32002`)
	require.NoError(t, a.Say(subscribe(`2`, `x:/r`)))
	id, _ = w.NextRequest()
	w.Say(answer(id))
	require.Equal(t, answer("2"), a.Next())
	require.Zero(t, g.Stats().InFlight)
}

// A server that was lost and opened again is told anew what is wanted of it.
func TestSubscriptionsOutliveServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := start(t, shared())
		a, _ := join(g)
		require.NoError(t, a.Say(subscribe(`1`, `x:/r`)))
		id, _ := server.Way(0).NextRequest()
		server.Way(0).Say(answer(id))
		_ = a.Next()
		server.Way(0).Die(errors.New("killed"))
		w := server.Way(1)
		id, frame := w.NextRequest()
		require.Equal(t, subscribe(id, `x:/r`), frame)
		w.Say(answer(id))
		w.Say(updated(`x:/r`))
		require.Equal(t, updated(`x:/r`), a.Next())
		_ = g.Close()
		synctest.Wait()
	})
}

func listen(id, filter string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"_meta":{` + modernMembers + `},"notifications":{` + filter + `}}}`
}

// Two modern clients listen at a modern server under the same id: each hears of its own
// subscription, under its own id, for as long as it likes.
func TestListenEachItsOwn(t *testing.T) {
	g, server := start(t, shared())
	server.Discover = discovered
	a, _ := join(g)
	b, _ := join(g)
	require.NoError(t, a.Say(listen(`1`, `"toolsListChanged":true`)))
	require.NoError(t, b.Say(listen(`"1"`, `"toolsListChanged":true`)))
	w := server.Way(0)
	idA, _ := w.NextRequest()
	idB, _ := w.NextRequest()
	change := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
	}
	w.Say(change(idA))
	w.Say(change(idB))
	require.Equal(t, change(`1`), a.Next())
	require.Equal(t, change(`"1"`), b.Next())
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	require.Len(t, w.Cancels(), 1)
	w.Say(change(idA))
	w.Say(change(idB))
	require.Equal(t, change(`"1"`), b.Next())
	require.Empty(t, a.Unread())
	w.Say(`{"jsonrpc":"2.0","id":` + idB + `,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":` + idB + `}}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":"1","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"1"}}}`, b.Next())
}

// A modern client listens at a server of the older era: the gateway grants what the
// server can do, subscribes for it, and marks what the server says.
func TestListenAtOlderServer(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"fake","version":"1"}}`
	a, _ := join(g)
	require.NoError(t, a.Say(listen(`"L"`, `"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["x:/r"]`)))
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"},`+
		`"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:/r"]}}}`, a.Next())
	w := server.Way(0)
	id, frame := w.NextRequest()
	require.Equal(t, subscribe(id, `x:/r`), frame)
	w.Say(answer(id))
	w.Say(toolsChanged)
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}}}`, a.Next())
	w.Say(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
	w.Say(updated(`x:/r`))
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"},"uri":"x:/r"}}`, a.Next())
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"L"}}`))
	id, frame = w.NextRequest()
	require.Equal(t, unsubscribe(id, `x:/r`), frame)
	w.Say(answer(id))
	w.Say(toolsChanged)
	require.Empty(t, a.Unread())
	require.Zero(t, g.Stats().InFlight)
}

// Clients of the older era at a modern server: the gateway listens once for all, hears
// of changes for them, and listens anew when they subscribe to a resource.
func TestOlderClientsAtModernServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := start(t, shared())
		server.Discover, server.Initialize = discovered, "-"
		a, _ := join(g)
		b, _ := join(g)
		begin(t, a)
		begin(t, b)
		w := server.Way(0)
		first, frame := w.NextRequest()
		require.Contains(t, frame, `"method":"subscriptions/listen"`)
		require.Contains(t, frame, `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`)
		ack := func(id string) string {
			return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"notifications":{}}}`
		}
		w.Say(ack(first))
		w.Say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + first + `}}}`)
		require.Contains(t, a.Next(), `notifications/tools/list_changed`)
		require.Contains(t, b.Next(), `notifications/tools/list_changed`)
		require.NoError(t, a.Say(subscribe(`1`, `x:/r`)))
		second, frame := w.NextRequest()
		require.Contains(t, frame, `"resourceSubscriptions":["x:/r"]`)
		require.Empty(t, w.Cancels())
		w.Say(ack(second))
		require.Equal(t, answer("1"), a.Next())
		synctest.Wait()
		require.Len(t, w.Cancels(), 1)
		w.Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + second + `},"uri":"x:/r"}}`)
		require.Contains(t, a.Next(), `"uri":"x:/r"`)
		require.Empty(t, b.Unread())
		_ = g.Close()
		synctest.Wait()
	})
}

// Subscriptions do not keep a gateway from being drained: they end as servers end them.
func TestDrainEndsListens(t *testing.T) {
	for name, discover := range map[string]string{"older server": "", "modern server": discovered} {
		t.Run(name, func(t *testing.T) {
			g, server := start(t, shared())
			server.Discover = discover
			c, _ := join(g)
			require.NoError(t, c.Say(listen(`"L"`, `"toolsListChanged":true`)))
			if discover == "" {
				require.Contains(t, c.Next(), `acknowledged`)
			} else {
				_ = server.Way(0).Next()
			}
			require.NoError(t, g.Drain(t.Context()))
			require.Equal(t, `{"jsonrpc":"2.0","id":"L","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"L"}}}`, c.Next())
			require.Zero(t, g.Stats().InFlight)
		})
	}
}

// A server ends a subscription by cancelling it: its client gets the answer that says so.
func TestServerCancelsListen(t *testing.T) {
	g, server := start(t, shared())
	server.Discover = discovered
	c, _ := join(g)
	require.NoError(t, c.Say(listen(`7`, `"toolsListChanged":true`)))
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`, c.Next())
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete"}}`)
	w.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	require.Empty(t, c.Unread())
	s := g.Stats()
	require.EqualValues(t, 1, s.Dropped[gateway.LateAnswer])
	require.EqualValues(t, 1, s.Dropped[gateway.UnknownCancel])
}
