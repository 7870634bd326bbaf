package gateway_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
)

const older = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`

// modernCall is a call of a modern client; members are added to its params.
func modernCall(id, members string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x",` + members + `"_meta":{` + modernMembers + `}}}`
}

// asked takes apart an answer that asks for input.
func asked(t *testing.T, frame string) (requests, state string) {
	t.Helper()
	var r struct {
		Result struct {
			ResultType    string
			InputRequests json.RawMessage
			RequestState  string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(frame), &r), frame)
	require.Equal(t, "input_required", r.Result.ResultType, frame)
	require.NotEmpty(t, r.Result.RequestState)
	return string(r.Result.InputRequests), r.Result.RequestState
}

// modernAtOlder is a modern client's call, with id 1, that a server of the older era
// has got under id.
func modernAtOlder(t *testing.T, u gateway.Upstream, say string) (g *gateway.Gateway, c *fake.Client, s *gateway.Session, w *fake.Way, id string) {
	t.Helper()
	g, server := start(t, u)
	server.Initialize = older
	c, s = join(g)
	require.NoError(t, c.Say(say))
	w = server.Way(0)
	id, _ = w.NextRequest()
	return g, c, s, w, id
}

// olderAtModern is an older client, in session, at a modern server, which the gateway
// listens to.
func olderAtModern(t *testing.T) (g *gateway.Gateway, c *fake.Client, s *gateway.Session, w *fake.Way) {
	t.Helper()
	g, server := start(t, shared())
	server.Discover, server.Initialize = discovered, "-"
	c, s = join(g)
	begin(t, c)
	w = server.Way(0)
	_ = w.Next()
	return g, c, s, w
}

// Cell 1: both of the older era. The handshake is the gateway's, all else passes.
func TestErasOlderOlder(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = older
	c, _ := join(g)
	begin(t, c)
	require.NoError(t, c.Say(call(`1`)))
	w := server.Way(0)
	id, frame := w.NextRequest()
	require.Equal(t, call(id), frame)
	w.Say(elicit)
	require.Equal(t, elicit, c.Next())
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`, w.Next())
	w.Say(answer(id))
	require.Equal(t, answer(`1`), c.Next())
}

// Cell 2: both of the modern era. Requests for input pass, and their answers.
func TestErasModernModern(t *testing.T) {
	g, server := start(t, shared())
	server.Discover = discovered
	c, _ := join(g)
	require.NoError(t, c.Say(modernCall(`1`, ``)))
	w := server.Way(0)
	id, frame := w.NextRequest()
	require.Equal(t, modernCall(id, ``), frame)
	const input = `"result":{"resultType":"input_required", "requestState":"s\u0031","inputRequests":{}}}`
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,` + input)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,`+input, c.Next())
	require.NoError(t, c.Say(modernCall(`2`, `"requestState":"s\u0031",`)))
	id, frame = w.NextRequest()
	require.Equal(t, modernCall(id, `"requestState":"s\u0031",`), frame)
}

// Cell 3: a modern client at a server of the older era. What the server asks becomes the
// answer to the client's request; the call at the server is held open until the client
// comes back with the answers, and then goes on.
func TestErasModernOlder(t *testing.T) {
	g, c, _, w, id := modernAtOlder(t, shared(), modernCall(`1`, ``))
	w.Say(`{"jsonrpc":"2.0","id":"q\u0031","method":"elicitation/create","params":{"message":"é\u00e9"}}`)
	requests, state := asked(t, c.Next())
	require.Equal(t, `{"1":{"method":"elicitation/create","params":{"message":"é\u00e9"}}}`, requests)
	require.Empty(t, w.Cancels(), "the call goes on")
	require.NoError(t, c.Say(modernCall(`1`, `"requestState":"`+state+`","inputResponses":{"1":{"action":"accept","n":1e400},"x":{}},`)))
	require.Equal(t, `{"jsonrpc":"2.0","id":"q\u0031","result":{"action":"accept","n":1e400}}`, w.Next())
	w.Say(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
	w.Say(`{"jsonrpc":"2.0","id":6,"method":"sampling/createMessage","params":{}}`)
	requests, state = asked(t, c.Next())
	require.Equal(t, `{"2":{"method":"roots/list"}}`, requests)
	require.NoError(t, c.Say(modernCall(`3`, `"requestState":"`+state+`","inputResponses":{"2":{"roots":[]}},`)))
	require.Equal(t, `{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}`, w.Next())
	requests, state = asked(t, c.Next())
	require.Equal(t, `{"3":{"method":"sampling/createMessage","params":{}}}`, requests)
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{ "content":[1.0]}}`)
	require.NoError(t, c.Say(modernCall(`"4"`, `"requestState":"`+state+`","inputResponses":{"3":{}},`)))
	require.Equal(t, `{"jsonrpc":"2.0","id":"4","result":{"resultType":"complete", "content":[1.0]}}`, c.Next())
	require.NoError(t, c.Say(modernCall(`5`, `"requestState":"`+state+`",`)))
	require.Contains(t, c.Next(), `"code":-32602`, "a state is good once")
	s := g.Stats()
	require.Zero(t, s.InFlight)
	require.Equal(t, s.Requests, s.Answered+s.Refused, "%+v", s)
}

// Results of a server of the older era say in the modern one of which type they are.
func TestErasModernOlderResults(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = older
	answerer(t, server, map[string]string{"tools/list": `{"tools":[] }`, "prompts/get": `{}`, "completion/complete": `{"resultType":"complete"}`, "x/y": `7`})
	c, _ := join(g)
	meta := `{"_meta":{` + modernMembers + `}}`
	require.Equal(t, `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[] }}`, ask(t, c, "1", "tools/list", meta))
	require.Equal(t, `"result":{"resultType":"complete"}}`, ask(t, c, "2", "prompts/get", meta))
	require.Equal(t, `"result":{"resultType":"complete"}}`, ask(t, c, "3", "completion/complete", meta))
	require.Equal(t, `"result":7}`, ask(t, c, "4", "x/y", meta))
	require.Contains(t, ask(t, c, "5", "server/discover", meta), `"supportedVersions":["2026-07-28"]`)
}

// Nobody else gets at a held call: not another session, nor another identity.
func TestHeldCallIsOwned(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = older
	alone := func(identity string) *fake.Client {
		c := &fake.Client{Who: link.Peer{Transport: "fake", Identity: identity, Alone: true}}
		c.Join(g.Join(c))
		return c
	}
	a := alone("ann")
	require.NoError(t, a.Say(modernCall(`1`, ``)))
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(elicit)
	_, state := asked(t, a.Next())
	a.End(errors.New("answered"))
	retry := `"requestState":"` + state + `","inputResponses":{"1":{"action":"accept"}},`
	for _, other := range []*fake.Client{alone("bob"), alone("")} {
		require.NoError(t, other.Say(modernCall(`1`, retry)))
		require.Contains(t, other.Next(), `"code":-32602`)
	}
	session, _ := join(g)
	require.NoError(t, session.Say(modernCall(`1`, retry)))
	require.Contains(t, session.Next(), `"code":-32602`)
	again := alone("ann")
	require.NoError(t, again.Say(modernCall(`1`, retry)))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, w.Next())
	w.Say(`{"jsonrpc":"2.0","id":8,"method":"roots/list"}`)
	_, state = asked(t, again.Next())
	last := alone("ann")
	require.NoError(t, last.Say(modernCall(`1`, `"requestState":"`+state+`","inputResponses":{"2":{"roots":[]}},`)))
	_ = w.Next()
	w.Say(answer(id))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`, last.Next())
}

// A client that does not come back, cancels or goes has the held call cancelled.
func TestHeldCallEnds(t *testing.T) {
	for name, end := range map[string]func(c *fake.Client, s *gateway.Session, state string){
		"late": func(*fake.Client, *gateway.Session, string) { time.Sleep(gateway.DefaultTimeout) },
		"gone": func(_ *fake.Client, s *gateway.Session, _ string) { s.Gone(errors.New("reset")) },
		"cancelled": func(c *fake.Client, _ *gateway.Session, state string) {
			_ = c.Say(modernCall(`2`, `"requestState":"`+state+`","inputResponses":{"1":{}},`))
			_ = c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := shared()
				u.Timeout = gateway.DefaultTimeout
				g, c, s, w, id := modernAtOlder(t, u, modernCall(`1`, ``))
				w.Say(elicit)
				_, state := asked(t, c.Next())
				synctest.Wait() // who opened the way has done what waited: the next call is sent at once
				end(c, s, state)
				synctest.Wait()
				cancels := w.Cancels()
				require.Len(t, cancels, 1)
				require.Equal(t, number(t, id), cancels[0].Call)
				require.Equal(t, name != "cancelled", strings.Contains(w.Next(), `"message":"the client has gone"`), "the server learns that nobody answers")
				require.Zero(t, g.Stats().InFlight)
				_ = g.Close()
				synctest.Wait()
			})
		})
	}
}

// A server that does not want to know any more is answered by nobody; its call goes on.
func TestHeldAskWithdrawn(t *testing.T) {
	g, c, _, w, id := modernAtOlder(t, shared(), modernCall(`1`, ``))
	w.Say(elicit)
	_, state := asked(t, c.Next())
	w.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	require.NoError(t, c.Say(modernCall(`2`, `"requestState":"`+state+`","inputResponses":{"1":{}},`)))
	w.Say(answer(id))
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete"}}`, c.Next())
	require.Zero(t, g.Stats().Dropped[gateway.UnknownCancel])
}

// What cannot be bridged is refused: a client that did not say it can be asked, and a
// request that can be of two calls.
func TestErasModernOlderRefused(t *testing.T) {
	_, c, _, w, id := modernAtOlder(t, shared(), strings.Replace(modernCall(`1`, ``), `"elicitation":{},`, ``, 1))
	w.Say(elicit)
	require.Contains(t, w.Next(), `"code":-32601`)
	require.NoError(t, c.Say(modernCall(`2`, ``)))
	_ = w.Next()
	w.Say(elicit)
	require.Contains(t, w.Next(), `"code":-32601`)
	w.Say(answer(id))
	require.Contains(t, c.Next(), `"id":1,"result"`)
}

// Log lines of an older server reach a modern client only for a request that asks.
func TestErasModernOlderLogs(t *testing.T) {
	_, c, _, w, id := modernAtOlder(t, shared(), modernCall(`1`, ``))
	w.Say(logged)
	w.Say(answer(id))
	require.Contains(t, c.Next(), `"id":1,"result"`)
	require.NoError(t, c.Say(strings.Replace(modernCall(`2`, ``), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"info",`, 1)))
	_ = w.Next()
	w.Say(logged)
	require.Equal(t, logged, c.Next())
}

// Cell 4: a client of the older era at a modern server. Requests say of themselves what
// the client said in initialize; what the server wants to know the client is asked, and
// the call is sent again with the answers.
func TestErasOlderModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, _, w := olderAtModern(t)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"info"}}`))
		require.Equal(t, answer(`9`), c.Next())
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		_, frame := w.NextRequest()
		const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{},"roots":{}},` +
			`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/logLevel":"info"`
		require.Contains(t, frame, `"params":{"_meta":{`+meta+`}}`)

		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"p"}}}`))
		id, frame := w.NextRequest()
		require.Contains(t, frame, `"params":{"name":"x","_meta":{`+meta+`,"progressToken":`+id+`}}`)
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required","requestState":"s\/1","inputRequests":{` +
			`"b":{"method":"roots/list"},"a":{"method":"elicitation/create","params":{"message":"\u00e9"}}}}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"\u00e9"}}`, c.Next())
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"method":"roots/list"}`, c.Next())
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"result":{"roots":[]}}`))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`))
		next, frame := w.NextRequest()
		require.NotEqual(t, id, next)
		require.Contains(t, frame, `"params":{"inputResponses":{"a":{"action":"accept"},"b":{"roots":[]}},"requestState":"s\/1","name":"x","_meta":{`+meta+`,"progressToken":`+next+`}}`)
		w.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + next + `,"progress":1}}`)
		require.Contains(t, c.Next(), `"progressToken":"p"`)
		w.Say(`{"jsonrpc":"2.0","id":` + next + `,"result":{"resultType":"complete","content":[]}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}`, c.Next())
		_ = g.Close()
		synctest.Wait()
	})
}

// A round ends with its call: by the client's refusal, its cancel, or its end.
func TestRoundEnds(t *testing.T) {
	for name, end := range map[string]struct {
		by   func(c *fake.Client, s *gateway.Session)
		says string
	}{
		"refused": {func(c *fake.Client, _ *gateway.Session) {
			_ = c.Say(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"the user said no"}}`)
		}, "the user said no"},
		"cancelled": {func(c *fake.Client, _ *gateway.Session) {
			_ = c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		}, ""},
		"gone": {func(_ *fake.Client, s *gateway.Session) { s.Gone(errors.New("reset")) }, ""},
		"late": {func(*fake.Client, *gateway.Session) { time.Sleep(gateway.DefaultTimeout) }, `"method":"notifications/cancelled","params":{"requestId":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, c, s, w := olderAtModern(t)
				require.NoError(t, c.Say(call(`2`)))
				id, _ := w.NextRequest()
				w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}}`)
				require.Contains(t, c.Next(), `"elicitation/create"`)
				end.by(c, s)
				synctest.Wait()
				got := strings.Join(c.Unread(), "")
				require.Contains(t, got, end.says)
				require.Equal(t, end.says == "", got == "")
				_ = c.Say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
				require.EqualValues(t, 1, g.Stats().Dropped[gateway.UnknownAnswer])
				require.Zero(t, g.Stats().InFlight)
				_ = g.Close()
				synctest.Wait()
			})
		})
	}
}

// Which era a client is of is what its requests say at their place, however it is spelt.
func TestEraOfClient(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = older
	answerer(t, server, map[string]string{"prompts/get": `{}`})
	look, _ := join(g)
	require.Equal(t, `"result":{}}`, ask(t, look, "1", "prompts/get", `{"arguments":{"_meta":{`+modernMembers+`}}}`))
	require.Equal(t, `"result":{}}`, ask(t, look, "2", "prompts/get", `{"_meta":{"x":{`+modernMembers+`}}}`))
	escaped, _ := join(g)
	require.Equal(t, `"result":{"resultType":"complete"}}`, ask(t, escaped, "1", "prompts/get", `{"_meta":{`+strings.ReplaceAll(modernMembers, "/", `\/`)+`}}`))
}

// What no client can be asked fails the call, and so does a server that asks without end;
// what had been asked is taken back. A task of the modern era is nobody's of the older.
func TestErasOlderModernRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, _, w := olderAtModern(t)
		input := func(id, requests string) {
			w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required","inputRequests":{` + requests + `}}}`)
		}
		require.NoError(t, c.Say(call(`2`)))
		id, _ := w.NextRequest()
		input(id, `"a":{"method":"elicitation/create"},"b":{"method":"tools/call"}`)
		require.Contains(t, c.Next(), `"elicitation/create"`)
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the server asks for what no client can be asked: tools/call"}}`, c.Next())
		require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, c.Next())

		require.NoError(t, c.Say(call(`3`)))
		for range 32 {
			id, _ = w.NextRequest()
			input(id, ``)
		}
		id, _ = w.NextRequest()
		input(id, ``)
		require.Contains(t, c.Next(), `"id":3,"error":{"code":-32603,"message":"the server asks again and again"}`)

		require.Contains(t, ask(t, c, "4", "tasks/get", `{"taskId":"t-1"}`), `"code":-32602`)

		// Nor can it follow a task that the server begins unasked, or take what it has no word for.
		for result, kind := range map[string]string{
			`{"resultType":"task","taskId":"t-1","status":"working"}`:       `the type \"task\"`,
			`{"content":[],"result\u0054ype" : "t\u0061sk","taskId":"t-1"}`: `the type \"task\"`,
			`{"resultType":"later","content":[]}`:                           `the type \"later\"`,
			`{"resultType":"input_required","inputRequests":7}`:             `the type \"input_required\"`,
			`{"resultType":"complete","resultType":"task","taskId":"t-1"}`:  `two types`,
		} {
			require.NoError(t, c.Say(call(`5`)))
			id, _ = w.NextRequest()
			w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
			require.Equal(t, `{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"upstream \"tools\" answered tools/call with a result of `+kind+`, which clients of the older era cannot take","data":{"upstream":"tools"}}}`, c.Next())
			require.Contains(t, ask(t, c, "6", "tasks/get", `{"taskId":"t-1"}`), `"code":-32602`, "it is nobody's")
		}
		require.NoError(t, c.Say(call(`5`)))
		id, _ = w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"resultType":"task"}]}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":5,"result":{"content":[{"resultType":"task"}]}}`, c.Next())
		s := g.Stats()
		require.Zero(t, s.InFlight)
		require.EqualValues(t, 7, s.Failed)
		_ = g.Close()
		synctest.Wait()
	})
}
