package gateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// refusedTwice says what must not reach a server, which may take either of two members.
func refusedTwice(t *testing.T, c *fake.Client, method string, params ...string) {
	t.Helper()
	for _, p := range params {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"twice","method":"`+method+`","params":`+p+`}`))
		got := c.Next()
		require.Contains(t, got, `"id":"twice"`, p)
		require.Contains(t, got, `"code":-32600`, p)
	}
}

// What the gateway reads of a request beside its name, id and token stands once, too.
func TestSecondOfWhatIsReadRefused(t *testing.T) {
	g, server := start(t, shared())
	server.Discover = discovered
	c, _ := join(g)
	refusedTwice(t, c, "initialize",
		`{"protocolVersion":"2025-11-25","protocolVersion":"2025-03-26","capabilities":{}}`,
		`{"protocolVersion":"2025-11-25","capabilities":{},"cap\u0061bilities":{"sampling":{}}}`)
	refusedTwice(t, c, "logging/setLevel", `{"level":"error","level":"debug"}`)
	refusedTwice(t, c, "tasks/get", `{"taskId":"mine","taskId":"another's"}`)
	refusedTwice(t, c, "subscriptions/listen",
		`{"_meta":{`+modernMembers+`},"notifications":{"taskIds":[]},"notifications":{"taskIds":["another's"]}}`,
		`{"_meta":{`+modernMembers+`},"notifications":{"taskIds":[],"task\u0049ds":["another's"]}}`,
		`{"_meta":{`+modernMembers+`},"notifications":{"resourceSubscriptions":[],"resourceSubscriptions":["x:/"]}}`)
	const version = `"io.modelcontextprotocol/protocolVersion":"2025-11-25"`
	for _, second := range []string{
		version, strings.Replace(version, "/", `\/`, 1), strings.Replace(version, "Version", `\u0056ersion`, 1), strings.Replace(version, ".", `\u002e`, 1),
		`"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/logLevel":"error"`,
	} {
		refusedTwice(t, c, "tools/call", `{"name":"x","_meta":{`+modernMembers+`,`+second+`}}`)
	}
	s := g.Stats()
	require.Equal(t, s.Requests, s.Refused)

	// The same names elsewhere are the server's to read.
	pass := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"arguments":{"_meta":{` + version + `,` + version + `},"level":1,"level":2},"_meta":{` + modernMembers + `},"name":"x"}}`
	}
	require.NoError(t, c.Say(pass(`1`)))
	id, frame := server.Way(0).NextRequest()
	require.Equal(t, pass(id), frame)
}

// A client of the older era at a modern server: what its _meta says itself is kept, and
// the server finds each member once; what stands there twice is refused.
func TestOlderClientsMetaOnce(t *testing.T) {
	g, c, _, w := olderAtModern(t)
	const level = `"io.modelcontextprotocol/logLevel":"debug"`
	const info = `"io.modelcontextprotocol/clientInfo":{"name":"itself","version":"2"}`
	const can = `"io.modelcontextprotocol/clientCapabilities":{}`
	const version = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	for _, member := range []string{level, info, can, version} {
		refusedTwice(t, c, "tools/call",
			`{"name":"x","_meta":{`+member+`,`+member+`}}`,
			`{"name":"x","_meta":{`+member+`,"a":1,`+strings.Replace(member, "io.", `\u0069o.`, 1)+`}}`)
	}
	s := g.Stats()
	require.EqualValues(t, 8, s.Refused)
	for said, own := range map[string][]string{
		`"a":1`: nil, level: {level}, info + `,` + level: {info, level}, can: {can},
		strings.Replace(level, "/", `\/`, 1): nil,
	} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{`+said+`}}}`))
		id, frame := w.NextRequest()
		require.Contains(t, frame, said+`}}}`, "as it was")
		plain := strings.ReplaceAll(frame, `\/`, "/")
		for _, name := range []string{"protocolVersion", "clientCapabilities", "clientInfo", "logLevel"} {
			require.Equal(t, 1, strings.Count(plain, `io.modelcontextprotocol/`+name+`"`), "%s: %s", name, frame)
		}
		for _, member := range own {
			require.Contains(t, frame, member)
		}
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete"}}`)
		require.Contains(t, c.Next(), `"id":1,"result"`)
	}
}

// Nor do the members by which a merged server goes.
func TestSecondOfWhatIsReadRefusedMerged(t *testing.T) {
	servers := []*fake.Server{{}, {}}
	c, _ := join(mergedOf(t, servers...))
	refusedTwice(t, c, "completion/complete",
		`{"ref":{"type":"ref/prompt","name":"a__x"},"ref":{"type":"ref/prompt","name":"b__x"}}`,
		`{"ref":{"type":"ref/prompt","name":"a__x","n\u0061me":"b__x"}}`,
		`{"ref":{"type":"ref/resource","uri":"x:/","uri":"y:/"}}`)
	refusedTwice(t, c, "tools/list", `{"cursor":"a","cursor":"b"}`)
	refusedTwice(t, c, "tasks/cancel", `{"taskId":"mine","taskId":"another's"}`)
	require.Zero(t, servers[0].Opened()+servers[1].Opened())
}

// Of two answers to what a server asks none is taken, and the question stays open.
func TestSecondOfAnAnswerRefused(t *testing.T) {
	_, c, _, w, _ := modernAtOlder(t, shared(), modernCall(`1`, ``))
	w.Say(elicit)
	_, state := asked(t, c.Next())
	require.NoError(t, c.Say(modernCall(`2`, `"requestState":"`+state+`","inputResponses":{"1":{"action":"accept"},"\u0031":{"action":"decline"}},`)))
	require.Contains(t, c.Next(), `"id":2,"error":{"code":-32600`)
	require.NoError(t, c.Say(modernCall(`3`, `"requestState":"`+state+`","requestState":"`+state+`",`)))
	require.Contains(t, c.Next(), `"id":3,"error":{"code":-32600`)
	require.NoError(t, c.Say(modernCall(`4`, `"requestState":"`+state+`","inputResponses":{"1":{"action":"decline"}},`)))
	require.Contains(t, w.Next(), `"result":{"action":"decline"}}`)
}
