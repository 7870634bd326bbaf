package gateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

func startPlain(t *testing.T, i gateway.Isolation) (*gateway.Gateway, *fake.Server) {
	t.Helper()
	return start(t, gateway.Upstream{Isolation: i, Plain: true})
}

// In plain JSON-RPC any number is an id, null too: it comes back as the client wrote it,
// and the server never sees it.
func TestPlainIDsComeBack(t *testing.T) {
	g, server := startPlain(t, gateway.Shared)
	c, _ := join(g)
	for _, id := range []string{
		`1`, `1.0`, `1.5`, `-0`, `1e3`, `1E+3`, `-1.250`, `123456789012345678901234567890`, `9007199254740993.0`, `null`, `"1.0"`, `"\u0061"`, `""`, `0`, `0.0`,
	} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"m", "id": `+id+` ,"params":[1.0]}`), id)
		number, frame := server.Way(0).NextRequest()
		require.Equal(t, `{"jsonrpc":"2.0","method":"m", "id": `+number+` ,"params":[1.0]}`, frame)
		server.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{"mine": 1.50}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{"mine": 1.50}}`, c.Next())
	}
	require.Empty(t, g.Stats().Dropped)
	require.Zero(t, g.Stats().InFlight)
}

// 1, 1.0, 1e0 and "1" are four ids, of two clients eight.
func TestPlainIDsDoNotMeet(t *testing.T) {
	g, server := startPlain(t, gateway.Shared)
	a, _ := join(g)
	b, _ := join(g)
	type asked struct {
		c          *fake.Client
		id, number string
	}
	var all []asked
	for _, c := range []*fake.Client{a, b} {
		for _, id := range []string{`1`, `1.0`, `1e0`, `"1"`} {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"m"}`))
			number, _ := server.Way(0).NextRequest()
			all = append(all, asked{c, id, number})
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		server.Way(0).Say(`{"jsonrpc":"2.0","id":` + all[i].number + `,"result":` + all[i].number + `}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":`+all[i].id+`,"result":`+all[i].number+`}`, all[i].c.Next())
	}
}

// Who sends what is no request is told so, under its id where that can be read, and
// under null where not: nobody waits for nothing.
func TestPlainRefusals(t *testing.T) {
	g, server := startPlain(t, gateway.Shared)
	c, _ := join(g)
	for frame, want := range map[string]string{
		`{"jsonrpc":"2.0","id":true,"method":"m"}`:                              `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":{},"method":"m"}`:                                `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":[1],"method":"m"}`:                               `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":` + strings.Repeat("1", 65) + `.0,"method":"m"}`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":1.0,"method":7}`:                                 `"error":{"code":-32600,`,
		`{"id":1,"method":`:                                                     `"error":{"code":-32700,`,
		`nonsense`:                                                              `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
		`[]`:                                                                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
	} {
		require.NoError(t, c.Say(frame))
		require.Contains(t, c.Next(), want, frame)
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":null,"method":"m"}`))
	number, _ := server.Way(0).NextRequest()
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":null,"method":"m"}`))
	require.Contains(t, c.Next(), `another one whose id is null is in flight`)
	server.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"error":{"code":1,"message":"m"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, c.Next())
}

// A batch has all kinds of ids, and each of its requests one answer.
func TestPlainBatch(t *testing.T) {
	g, server := startPlain(t, gateway.Shared)
	c, _ := join(g)
	require.NoError(t, c.Say(`[{"jsonrpc":"2.0","id":1.0,"method":"a"},{"jsonrpc":"2.0","id":null,"method":"b"},{"jsonrpc":"2.0","method":"n"},`+
		`{"jsonrpc":"2.0","id":[],"method":"x"},7,{"jsonrpc":"2.0","id":2,"method":"initialize"},{"jsonrpc":"2.0","id":3,"method":"c","params":{"name":1,"name":2}},{"jsonrpc":"2.0","id":1.0,"method":"twice"}]`))
	w := server.Way(0)
	for range 3 {
		number, _ := w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":` + number + `,"result":` + number + `}`)
	}
	got := c.Next()
	for _, want := range []string{
		`"id":1.0,"result"`, `"id":null,"result"`, `"id":null,"error":{"code":-32600`, `"id":2,"result"`, `"id":3,"error":{"code":-32600`,
	} {
		require.Contains(t, got, want)
	}
	require.Equal(t, 6, strings.Count(got, `"jsonrpc"`), got)
	require.Zero(t, g.Stats().InFlight)
}

// A cancel means the client's own request, in the words of MCP or of the Language Server
// Protocol, in which a request that was cancelled is answered all the same.
func TestX01PlainCancels(t *testing.T) {
	g, server := startPlain(t, gateway.Shared)
	a, _ := join(g)
	b, _ := join(g)
	for _, c := range []*fake.Client{a, b} {
		for _, id := range []string{`1`, `2.5`} {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"m"}`))
		}
	}
	w := server.Way(0)
	var numbers []string
	for range 4 {
		number, _ := w.NextRequest()
		numbers = append(numbers, number)
	}
	require.NoError(t, b.Say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2.5}}`))
	require.Equal(t, `{"jsonrpc":"2.0","id":2.5,"error":{"code":-32800,"message":"the request was cancelled"}}`, b.Next())
	require.NoError(t, b.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	require.Empty(t, b.Unread())
	got := w.Cancels()
	require.Len(t, got, 2)
	require.Equal(t, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":`+numbers[3]+`}}`, got[0].Note)
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+numbers[2]+`}}`, got[1].Note)
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}`))
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":[1]}`))
	require.EqualValues(t, 2, g.Stats().Dropped[gateway.UnknownCancel])
	require.Equal(t, 2, g.Stats().InFlight)
}

// What a server asks comes back under its own id, whatever number that is, and what MCP
// has its own words for is nothing special.
func TestPlainServerAsks(t *testing.T) {
	g, server := startPlain(t, gateway.PerSession)
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":0}}`))
	w := server.Way(0)
	require.Contains(t, w.Next(), `{"x":0}`)
	for _, id := range []string{`1.5`, `7`} {
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping","params":[]}`)
		asked := c.Next()
		number := asked[len(`{"jsonrpc":"2.0","id":`):strings.Index(asked, `,"method"`)]
		require.Equal(t, `{"jsonrpc":"2.0","id":`+number+`,"method":"ping","params":[]}`, asked)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+number+`,"result":1}`))
		require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":1}`, w.Next())
	}
	w.Say(`{"jsonrpc":"2.0","method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`)
	require.Contains(t, c.Next(), `"method":"n"`)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":1}}`))
	require.Contains(t, w.Next(), `{"x":1}`)
}

// tracing is a Tracer that puts one context into every trace.
type tracing struct{}

func (tracing) Begin(gateway.Beginning) (string, any) { return "00-new", nil }

// A server that knows no MCP gets a trace context where its client wrote one, and no
// member that nobody wrote.
func TestPlainTraceContext(t *testing.T) {
	server := &fake.Server{}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "a", Opener: server, Isolation: gateway.Shared, Plain: true}}, Observer: func(gateway.Event) {}, Tracer: tracing{}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	c, _ := join(g)
	for params, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, `[]`: `[]`, `{"_meta":{}}`: `{"_meta":{}}`, `{"_meta":{"traceparent":"00-old"}}`: `{"_meta":{"traceparent":"00-new"}}`,
	} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1.0,"method":"m","params":`+params+`}`))
		number, frame := server.Way(0).NextRequest()
		require.Equal(t, `{"jsonrpc":"2.0","id":`+number+`,"method":"m","params":`+want+`}`, frame)
		server.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"result":1}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1.0,"result":1}`, c.Next())
	}
}
