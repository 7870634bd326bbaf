package gateway_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
)

// mergedOf makes a gateway of shared servers called a, b, … as one.
func mergedOf(t *testing.T, servers ...*fake.Server) *gateway.Gateway {
	t.Helper()
	var o gateway.Options
	o.Merge, o.Random = true, func() float64 { return 1 }
	for i, s := range servers {
		o.Upstreams = append(o.Upstreams, gateway.Upstream{Name: string(rune('a' + i)), Opener: s, Isolation: gateway.Shared})
	}
	g, err := gateway.New(o)
	require.NoError(t, err)
	over(t, g)
	return g
}

// answerer has a server answer each request with what results says of its method, until
// the way ends.
func answerer(t *testing.T, s *fake.Server, results map[string]string) {
	t.Helper()
	echoing(t, s, func(method, params string) string {
		var p struct{ Cursor string }
		if json.Unmarshal([]byte(params), &p) == nil && p.Cursor != "" {
			method += "@" + p.Cursor
		}
		if result, ok := results[method]; ok {
			return result
		}
		return `"error":{"code":-32601,"message":"no"}`
	})
}

func ask(t *testing.T, c *fake.Client, id, method, params string) string {
	t.Helper()
	if params != "" {
		params = `,"params":` + params
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"`+params+`}`))
	return strings.TrimPrefix(c.Next(), `{"jsonrpc":"2.0","id":`+id+`,`)
}

// Lists are one list under prefixes, entries as their servers wrote them, page by page.
func TestMergedLists(t *testing.T) {
	a, b := &fake.Server{}, &fake.Server{}
	g := mergedOf(t, a, b)
	answerer(t, a, map[string]string{
		"tools/list":     `{"tools":[{ "title":"é\u00e9", "name" : "x","n":1e400},{"name":"y"}],"nextCursor":"p2"}`,
		"tools/list@p2":  `{"nextCursor":"","tools":[{"name":"z"}]}`,
		"tools/list@":    `{"tools":[]}`,
		"resources/list": `{"resources":[{"uri":"x:/a","name":"r"}]}`,
	})
	answerer(t, b, map[string]string{"tools/list": `{"tools":[{"name":"x"}]}`})
	c, _ := join(g)
	first := ask(t, c, "1", "tools/list", "")
	require.Contains(t, first, `"result":{"tools":[{ "title":"é\u00e9", "name" : "a__x","n":1e400},{"name":"a__y"},{"name":"b__x"}],"nextCursor":"`)
	var r struct{ Result struct{ NextCursor string } }
	require.NoError(t, json.Unmarshal([]byte(`{`+first), &r))
	second := ask(t, c, "2", "tools/list", `{"cursor":"`+r.Result.NextCursor+`"}`)
	require.Contains(t, second, `"result":{"tools":[{"name":"a__z"}],"nextCursor":"`)
	require.Equal(t, `"result":{"resources":[{"uri":"x:/a","name":"r"}]}}`, ask(t, c, "3", "resources/list", ""))
	require.Contains(t, ask(t, c, "4", "tools/list", `{"cursor":"p2"}`), `"code":-32602`)
	require.Contains(t, ask(t, c, "5", "tools/list", `{"cursor":"x","cursor":"y"}`), `"code":-32600`)
}

// A name goes to the server of its prefix, without it; the rest is as it was.
func TestMergedCalls(t *testing.T) {
	a, b := &fake.Server{}, &fake.Server{}
	g := mergedOf(t, a, b)
	c, _ := join(g)
	for name, rest := range map[string]string{`b__x`: `x`, `b__x__y`: `x__y`, `b_\u005fx\"`: `x\"`} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"name":"a__q"}, "name":"`+name+`","_meta":{"progressToken":"t"}}}`))
		id, frame := b.Way(0).NextRequest()
		require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"arguments":{"name":"a__q"}, "name":"`+rest+`","_meta":{"progressToken":`+id+`}}}`, frame)
		b.Way(0).Say(answer(id))
		require.Equal(t, answer("1"), c.Next())
	}
	for _, name := range []string{`x`, `c__x`, `__x`, `b__`} {
		require.Contains(t, ask(t, c, "2", "tools/call", `{"name":"`+name+`"}`), `"code":-32602`)
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a__p"},"argument":{"name":"n","value":"v"}}}`))
	id, frame := a.Way(0).NextRequest()
	require.Contains(t, frame, `"ref":{"type":"ref/prompt","name":"p"}`)
	a.Way(0).Say(answer(id))
	require.Equal(t, answer("3"), c.Next())
	require.Contains(t, ask(t, c, "4", "completion/complete", `{"ref":{"name":"a__p","n\u0061me":"b__p"}}`), `"code":-32600`)
	require.Contains(t, ask(t, c, "5", "x/y", ""), `"code":-32601`)
	require.Zero(t, g.Stats().InFlight)
}

// A resource goes to who has it: as a list says, or a template.
func TestMergedResources(t *testing.T) {
	a, b := &fake.Server{}, &fake.Server{}
	g := mergedOf(t, a, b)
	answerer(t, a, map[string]string{"resources/list": `{"resources":[{"uri":"x:/both"},{"uri":"x:/a"}]}`, "resources/read": `"A"`})
	answerer(t, b, map[string]string{
		"resources/list": `{"resources":[{"uri":"x:/both"}],"nextCursor":"2"}`, "resources/list@2": `{"resources":[{"uri":"x:/b"}]}`,
		"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"y:/{id}/data"}]}`, "resources/read": `"B"`, "completion/complete": `"C"`,
	})
	c, _ := join(g)
	for uri, whose := range map[string]string{`x:/b`: `"B"`, `x:/a`: `"A"`, `x:/both`: `"A"`, `y:/7/data`: `"B"`} {
		require.Equal(t, `"result":`+whose+`}`, ask(t, c, "1", "resources/read", `{"uri":"`+uri+`"}`), uri)
	}
	require.Equal(t, `"result":"C"}`, ask(t, c, "1", "completion/complete", `{"ref":{"type":"ref/resource","uri":"y:/{id}/data"}}`))
	require.Equal(t, `"error":{"code":-32002,"message":"resource not found","data":{"uri":"z:/"}}}`, ask(t, c, "2", "resources/read", `{"uri":"z:/"}`))
	require.Contains(t, ask(t, c, "2", "resources/read", `{"uri":7}`), `"code":-32602`)
}

// A server that cannot be reached is missing and named; the others serve, and when it
// is back clients are told to look again.
func TestMergedDegrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		a, b := &fake.Server{}, &fake.Server{}
		b.Fail = func(int) error {
			if broken.Load() {
				return errors.New("no such file")
			}
			return nil
		}
		a.Initialize = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":false},"logging":{}},"serverInfo":{"name":"a","version":"1"}}`
		g := mergedOf(t, a, b)
		answerer(t, a, map[string]string{"tools/list": `{"tools":[{"name":"x"}]}`, "tools/call": `{}`, "logging/setLevel": `{}`})
		c, _ := join(g)
		require.Equal(t, `"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"tools":{"listChanged":false}},"serverInfo":{"name":"correlator-gateway","version":"1"}}}`,
			ask(t, c, "1", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`))
		require.Equal(t, `"result":{"tools":[{"name":"a__x"}],"_meta":{"io.github.correlator-go/unavailable":["b"]}}}`, ask(t, c, "2", "tools/list", ""))
		require.Equal(t, `"result":{}}`, ask(t, c, "3", "tools/call", `{"name":"a__x"}`))
		require.Equal(t, `"result":{}}`, ask(t, c, "4", "logging/setLevel", `{"level":"info"}`))
		require.Contains(t, ask(t, c, "5", "tools/call", `{"name":"b__x"}`), "no such file")
		broken.Store(false)
		require.Equal(t, toolsChanged, c.Next())
		_ = c.Next()
		_ = c.Next()
		_ = g.Close()
		synctest.Wait()
	})
}

// One that does not answer keeps a list waiting only so long.
func TestMergedPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &fake.Server{}, &fake.Server{Silent: true}
		g := mergedOf(t, a, b)
		answerer(t, a, map[string]string{"tools/list": `{"tools":[{"name":"x"}]}`})
		c, _ := join(g)
		require.Contains(t, ask(t, c, "1", "tools/list", ""), `"unavailable":["b"]`[1:])
		_ = g.Close()
		synctest.Wait()
	})
}

// A task is its owner's alone: to others it does not exist.
func TestTasksAreOwned(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{}},"serverInfo":{"name":"fake","version":"1"}}`
	answerer(t, server, map[string]string{
		"tools/call": `{"task":{"taskId":"t-1","status":"working"}}`, "tasks/get": `{"taskId":"t-1"}`,
		"tasks/list": `{"tasks":[{"taskId":"t-0"},{"taskId":"t-1"}]}`,
	})
	a, _ := join(g)
	b, _ := join(g)
	_ = ask(t, a, "1", "tools/call", `{"name":"x","task":{}}`)
	require.Equal(t, `"result":{"taskId":"t-1"}}`, ask(t, a, "2", "tasks/get", `{"taskId":"t-1"}`))
	require.Equal(t, `"result":{"tasks":[{"taskId":"t-1"}]}}`, ask(t, a, "3", "tasks/list", ""))
	for _, params := range []string{`{"taskId":"t-1"}`, `{"taskId":"t-2"}`, `{"taskId":1}`, `{}`} {
		require.Contains(t, ask(t, b, "1", "tasks/get", params), `"code":-32602`)
		require.Contains(t, ask(t, b, "1", "tasks/cancel", params), `"code":-32602`)
	}
	require.Contains(t, ask(t, b, "1", "tasks/get", `{"taskId":"t-2","taskId":"t-1"}`), `"code":-32600`)
	require.Equal(t, `"result":{"tasks":[]}}`, ask(t, b, "3", "tasks/list", ""))
	server.Way(0).Say(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t-1","status":"completed"}}`)
	require.Contains(t, a.Next(), `"completed"`)
	require.Empty(t, b.Unread())
	require.NoError(t, b.Say(listen(`9`, `"taskIds":["t-1"]`)))
	require.NotContains(t, b.Next(), `"result"`)
}

// The owner of a task is an identity where there is one, whatever its connections.
func TestTasksOfIdentity(t *testing.T) {
	g, server := start(t, shared())
	server.Initialize = `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{}},"serverInfo":{"name":"fake","version":"1"}}`
	answerer(t, server, map[string]string{"tools/call": `{"task":{"taskId":"t-1"}}`, "tasks/get": `{"taskId":"t-1"}`})
	as := func(identity string) *fake.Client {
		c := &fake.Client{Who: link.Peer{Transport: "fake", Identity: identity}}
		c.Join(g.Join(c))
		return c
	}
	_ = ask(t, as("ann"), "1", "tools/call", `{"name":"x"}`)
	require.Contains(t, ask(t, as("ann"), "1", "tasks/get", `{"taskId":"t-1"}`), `"result"`)
	require.Contains(t, ask(t, as("bob"), "1", "tasks/get", `{"taskId":"t-1"}`), `"code":-32602`)
	require.Contains(t, ask(t, as(""), "1", "tasks/get", `{"taskId":"t-1"}`), `"code":-32602`)
}
