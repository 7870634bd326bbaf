package gateway_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
)

// A cancel reaches the server whatever the method: no method is known to the path.
func TestX03CancelOfEveryMethod(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	methods := []string{
		"tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get",
		"completion/complete", "logging/setLevel", "x/y",
	}
	for _, method := range methods {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"`+method+`","method":"`+method+`"}`))
	}
	w := server.Way(0)
	var calls []int64
	for range methods {
		id, _ := w.NextRequest()
		calls = append(calls, number(t, id))
	}
	for _, method := range methods {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"`+method+`"}}`))
	}
	cancels := w.Cancels()
	require.Len(t, cancels, len(methods))
	for i := range cancels {
		require.Equal(t, calls[i], cancels[i].Call)
	}
	require.Zero(t, g.Stats().InFlight)
	require.Empty(t, c.Unread())
}

// Cancel and answer race: one ending, in each order, and the session lives.
func TestX05CancelRacesAnswer(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	answers := 0
	var w = func() (id string) {
		require.NoError(t, c.Say(call(`1`)))
		id, _ = server.Way(0).NextRequest()
		return id
	}
	id := w()
	server.Way(0).Say(answer(id))
	require.NoError(t, c.Say(cancel))
	require.Equal(t, []string{answer(`1`)}, c.Unread())
	id = w()
	require.NoError(t, c.Say(cancel))
	require.NoError(t, c.Say(cancel))
	server.Way(0).Say(answer(id))
	require.Empty(t, c.Unread())
	rounds := atSize(100_000)
	for range rounds {
		id := w()
		var both sync.WaitGroup
		both.Go(func() { server.Way(0).Say(answer(id)) })
		both.Go(func() { _ = c.Say(cancel) })
		both.Wait()
		got := c.Unread()
		require.LessOrEqual(t, len(got), 1)
		answers += len(got)
		server.Way(0).Forget()
		c.Forget()
	}
	s := g.Stats()
	require.Zero(t, s.InFlight)
	require.EqualValues(t, answers+1, s.Answered)
	require.EqualValues(t, rounds+1-answers, s.Cancelled)
}

// Zero and the empty string are ids; null and none are not, and count.
func TestX07CancelOfZero(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	for _, id := range []string{`0`, `""`} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"slow"}`))
		_ = server.Way(0).Next()
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`))
	}
	require.Len(t, server.Way(0).Cancels(), 2)
	for _, params := range []string{`{"requestId":null}`, `{}`, `{"requestId":{}}`, `{"requestId":"0"}`} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":`+params+`}`))
	}
	require.EqualValues(t, 4, g.Stats().Dropped[gateway.UnknownCancel])
	require.Zero(t, g.Stats().InFlight)
}

// Progress beside the answer: what came before it is passed on before it, what came
// after it is late, what nobody asked for is counted, and nothing ends.
func TestX11ProgressNextToAnswer(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"tok"}}}`))
	w := server.Way(0)
	id, _ := w.NextRequest()
	progress := func(token string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1}}`
	}
	w.Say(progress(id))
	w.Say(answer(id))
	w.Say(progress(id))
	w.Say(progress(`"never"`))
	w.Say(progress(`12345`))
	require.Equal(t, []string{progress(`"tok"`), answer(`1`)}, c.Unread())
	require.EqualValues(t, 3, g.Stats().Dropped[gateway.LateProgress])
}

// The handshake is not cancelled, however it ends.
func TestX17InitializeIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.OpenTimeout, u.ProbeTimeout = 20*time.Millisecond, -1
		g, server := start(t, u)
		server.Silent = true
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}`))
		require.Contains(t, c.Next(), `"error"`)
		synctest.Wait()
		require.Empty(t, server.Way(0).Cancels())
		_ = g.Close()
		synctest.Wait()
	})
}

// Members of other names do not count, and arrive as they were.
func TestC05LookAlikes(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	for _, tail := range []string{
		`"method":"tools/list","Method":"tools/call","params":{"name":"safe","Name":"danger"}}`,
		`"method":"tools/list","params":{"name":"safe"},"param` + "\u017f" + `":{"name":"danger"}}`,
	} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,`+tail))
		id, frame := server.Way(0).NextRequest()
		require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,`+tail, frame)
		server.Way(0).Say(answer(id))
		require.Equal(t, answer(`1`), c.Next())
	}
}

// An odd answer becomes a plain one.
func oddAnswer(t *testing.T, odd, plain string) {
	t.Helper()
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(call(`1`)))
	id, _ := server.Way(0).NextRequest()
	server.Way(0).Say(strings.ReplaceAll(odd, "ID", id))
	require.Equal(t, plain, c.Next())
}

func TestC12ErrorIsText(t *testing.T) {
	oddAnswer(t, `{"jsonrpc":"2.0","id":ID,"error":"bad cursor"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"bad cursor"}}`)
}

func TestC14NullErrorBesideResult(t *testing.T) {
	oddAnswer(t, `{"result":7,"error":null,"id":ID}`, `{"jsonrpc":"2.0","id":1,"result":7}`)
}

func TestC15ResultBesideError(t *testing.T) {
	const plain = `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`
	oddAnswer(t, `{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":-32601,"message":"x"}}`, plain)
	oddAnswer(t, `{"error":{"code":-32601,"message":"x"},"jsonrpc":"2.0","result":{},"id":ID}`, plain)
}

// Neighbouring ids beyond 2^53 stay apart; those of a form that is no id go nowhere.
func TestC24BigIDs(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	ids := []string{`9007199254740992`, `9007199254740993`, `9223372036854775808`, `18446744073709551615`}
	for _, id := range ids {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"m","params":[`+id+`]}`))
	}
	w := server.Way(0)
	wires := map[string]string{}
	for _, id := range ids {
		wire, frame := w.NextRequest()
		require.Contains(t, frame, `"params":[`+id+`]`)
		wires[id] = wire
	}
	for i := len(ids) - 1; i >= 0; i-- {
		w.Say(`{"jsonrpc":"2.0","id":` + wires[ids[i]] + `,"result":` + ids[i] + `}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":`+ids[i]+`,"result":`+ids[i]+`}`, c.Next())
	}
	for _, id := range []string{`1e20`, `1.5`} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"m"}`))
	}
	require.EqualValues(t, 2, g.Stats().Dropped[gateway.UnreadableClient])
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"last"}`))
	require.Contains(t, w.Next(), `"last"`, "nothing of them went upstream")
}

// A request with a null id is refused, and goes to no server.
func TestC26NullID(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":null,"method":"ping"}`))
	require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: null id"}}`, c.Next())
	require.Zero(t, server.Opened())
}

// An error that names no call ends none.
func TestC27NullIDError(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(call(`1`)))
	require.NoError(t, c.Say(call(`2`)))
	w := server.Way(0)
	one, _ := w.NextRequest()
	two, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"x"}}`)
	w.Say(answer(one))
	w.Say(answer(two))
	require.Equal(t, []string{answer(`1`), answer(`2`)}, c.Unread())
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.UnknownAnswer])
}

// Ids that are falsy elsewhere are ids; what is none is dropped and counted.
func TestR13ZeroAndEmptyID(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	for _, id := range []string{`0`, `""`} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`))
		require.Equal(t, answer(id), c.Next())
		require.NoError(t, c.Say(call(id)))
		wire, _ := server.Way(0).NextRequest()
		server.Way(0).Say(answer(wire))
		require.Equal(t, answer(id), c.Next())
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":false,"method":"ping"}`))
	require.Empty(t, c.Unread())
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.UnreadableClient])
}
