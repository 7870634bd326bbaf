package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// peerScript plays a transcript's lines against a fresh fixture and returns what
// the peer reads, frame by frame, without what only the front end sees.
func peerScript(t *testing.T, lines ...string) []string {
	t.Helper()
	p := &player{t: t, runs: make(map[mcp.InvocationID]*mcp.Invocation)}
	p.reset()
	var read []string
	for _, line := range lines {
		for _, e := range p.play(line) {
			kind, rest, _ := strings.Cut(e, " ")
			if kind == "write" || kind == "answer" || strings.HasPrefix(kind, "refuse") {
				_, frame, _ := strings.Cut(rest, " ")
				read = append(read, frame)
			}
		}
	}
	return read
}

const (
	hello  = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	slowID = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},` + metaText + `}}`
	cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`
)

func TestR01InitializeWithoutParams(t *testing.T) {
	for _, params := range []string{"", `,"params":null`, `,"params":[]`, `,"params":"x"`, `,"params":{}`} {
		read := peerScript(t, `recv 1 {"jsonrpc":"2.0","id":1,"method":"initialize"`+params+`}`, "recv 2 "+hello)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}`, read[0], params)
		require.Contains(t, read[1], `"protocolVersion":"2025-11-25"`, "a good one works later")
	}
}

func TestR03ParamsNull(t *testing.T) {
	read := peerScript(t, `recv 1 {"jsonrpc":"2.0","id":4,"method":"ping","params":null}`, "recv 2 "+hello,
		`recv 3 {"jsonrpc":"2.0","id":4,"method":"ping","params":null}`, `recv 4 {"jsonrpc":"2.0","id":5,"method":"prompts/list","params":null}`, "changed tools")
	require.Equal(t, `{"jsonrpc":"2.0","id":4,"result":{}}`, read[0])
	require.Equal(t, `{"jsonrpc":"2.0","id":4,"result":{}}`, read[2])
	require.Contains(t, read[3], `"prompts":[`)
	require.NotContains(t, read[4], "params", "we leave out what would be null")
}

func TestR04PingAndSetLevelBeforeReady(t *testing.T) {
	read := peerScript(t,
		`recv 1 {"jsonrpc":"2.0","id":1,"method":"ping"}`, "recv 2 "+hello,
		`recv 3 {"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"info"}}`,
		`recv 4 {"jsonrpc":"2.0","id":4,"method":"ping"}`, `recv 5 {"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Len(t, read, 4)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, read[0])
	require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":{}}`, read[2])
	require.Equal(t, `{"jsonrpc":"2.0","id":4,"result":{}}`, read[3])
}

func TestR06InitializedBeforeInitialize(t *testing.T) {
	read := peerScript(t, `recv 1 {"jsonrpc":"2.0","method":"notifications/initialized"}`, "recv 2 "+hello, "recv 3 "+hello)
	require.Len(t, read, 2)
	require.Contains(t, read[0], `"result"`)
	require.Equal(t, `{"jsonrpc":"2.0","id":"hello","error":{"code":-32600,"message":"Already initialized"}}`, read[1])
}

// Requests of the client are served before it says initialized; ours wait for it.
func TestR07RequestsBeforeInitialized(t *testing.T) {
	p := &player{t: t, runs: make(map[mcp.InvocationID]*mcp.Invocation)}
	p.reset()
	p.play("recv 1 " + strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{},"roots":{}}`, 1))
	require.Contains(t, p.play(`recv 2 {"jsonrpc":"2.0","id":2,"method":"prompts/list"}`)[1], `"prompts":[`)
	p.play(`recv 3 {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask"}}`)
	require.Empty(t, p.play("perform 3.1"))
	require.False(t, p.state.Ready())
	effects := p.play(`recv 4 {"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.True(t, p.state.Ready())
	require.Equal(t, mcp.Revision20251125, p.state.Session())
	require.Len(t, effects, 3)
	require.Contains(t, effects[0], "ask 3.1 name elicitation/create")
}

func TestR08NotificationsAreNotAnswered(t *testing.T) {
	for _, method := range []string{"notifications/initialized", "notifications/roots/list_changed", "notifications/xyz", "foo"} {
		frame := fmt.Sprintf(` {"jsonrpc":"2.0","method":%q}`, method)
		require.Len(t, peerScript(t, "recv 1"+frame, "recv 2 "+hello, "recv 3"+frame), 1, method)
	}
}

func TestR09PingResultIsAnObject(t *testing.T) {
	read := peerScript(t, `recv 1 {"jsonrpc":"2.0","id":"123","method":"ping"}`)
	require.Equal(t, []string{`{"jsonrpc":"2.0","id":"123","result":{}}`}, read)
}

// A message without "jsonrpc" is refused like one of another version.
func TestR11BatchesAndVersions(t *testing.T) {
	read := peerScript(t, "recv 1 "+hello, `recv 2 [{"jsonrpc":"2.0","id":2,"method":"ping"}]`,
		`recv 3 {"jsonrpc":"1.0","id":4,"method":"ping"}`, `recv 4 {"id":5,"method":"ping"}`)
	require.Equal(t, []string{
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Batches are not supported"}}`,
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32600,"message":"Invalid request"}}`,
		`{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"Invalid request"}}`,
	}, read[1:])
}

func TestR13FalsyIDs(t *testing.T) {
	read := peerScript(t, `recv 1 {"jsonrpc":"2.0","id":0,"method":"ping"}`, `recv 2 {"jsonrpc":"2.0","id":"","method":"ping"}`,
		`recv 3 {"jsonrpc":"2.0","id":false,"method":"ping"}`)
	require.Equal(t, []string{
		`{"jsonrpc":"2.0","id":0,"result":{}}`,
		`{"jsonrpc":"2.0","id":"","result":{}}`,
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"}}`, // no id could be read: MCP has no null
	}, read)
}

// Nothing that we send unasked has an id.
func TestR14NotificationsHaveNoID(t *testing.T) {
	read := peerScript(t, "recv 1 "+hello, "changed tools", "changed prompts", "changed resources",
		`recv 2 {"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+metaText+`}}`, "changed tools")
	require.Len(t, read, 7)
	for _, frame := range read[1:] {
		require.NotContains(t, frame, `"id":`)
	}
}

// Whatever the method, a cancel ends it without an answer.
func TestX03EveryMethodIsCancelled(t *testing.T) {
	for method, params := range map[string]string{
		mcp.MethodCallTool:     `"name":"echo","arguments":{"text":"x"}`,
		mcp.MethodReadResource: `"uri":"test://text"`,
		mcp.MethodGetPrompt:    `"name":"poem","arguments":{"about":"x"}`,
		mcp.MethodComplete:     `"ref":{"type":"ref/prompt","name":"poem"},"argument":{"name":"about","value":"x"}`,
	} {
		p := &player{t: t, runs: make(map[mcp.InvocationID]*mcp.Invocation)}
		p.reset()
		p.play(fmt.Sprintf(`recv 1 {"jsonrpc":"2.0","id":"a","method":%q,"params":{%s,%s}}`, method, params, metaText))
		require.Equal(t, []string{"cancel 1.1", "close 1", "close 2"}, p.play("recv 2 "+fmt.Sprintf(cancel, `"a"`)), method)
		require.Empty(t, p.play("perform 1.1"), method)
	}
	read := peerScript(t, `recv 1 {"jsonrpc":"2.0","id":"a","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+metaText+`}}`,
		"recv 2 "+fmt.Sprintf(cancel, `"a"`), "changed tools", "end")
	require.Len(t, read, 1, "the acknowledgement")
}

func TestX16OneCancelAmongMany(t *testing.T) {
	p := &player{t: t, runs: make(map[mcp.InvocationID]*mcp.Invocation)}
	p.reset()
	for i := range 100 {
		p.play(fmt.Sprintf("recv %d "+slowID, i+1, fmt.Sprint(i)))
	}
	p.play("recv 101 " + fmt.Sprintf(cancel, "50"))
	answers := 0
	for i := range 100 {
		answers += len(p.play(fmt.Sprintf("perform %d.1", i+1))) / 2
	}
	require.Equal(t, 99, answers)
	require.Zero(t, p.state.Live())
}

func TestX05CancelRacesTheAnswer(t *testing.T) {
	call, stop := fmt.Sprintf(slowID, "5"), fmt.Sprintf(cancel, "5")
	for name, lines := range map[string][]string{
		"answered":         {"recv 1 " + call, "perform 1.1", "recv 2 " + stop},
		"cancelled":        {"recv 1 " + call, "recv 2 " + stop, "perform 1.1"},
		"cancelled twice":  {"recv 1 " + call, "recv 2 " + stop, "recv 3 " + stop, "perform 1.1"},
		"answered twice":   {"recv 1 " + call, "perform 1.1", "perform 1.1"},
		"crashed and done": {"recv 1 " + call, "crash 1.1", "perform 1.1", "timeout 1.1"},
	} {
		lines = append(lines, "recv 9 "+fmt.Sprintf(slowID, "6"), "perform 9.1")
		read := peerScript(t, lines...)
		ends := 0
		for _, frame := range read {
			if strings.Contains(frame, `"id":5`) {
				ends++
			}
		}
		want := 1
		if strings.HasPrefix(name, "cancelled") {
			want = 0
		}
		require.Equal(t, want, ends, name)
		require.Contains(t, read[len(read)-1], `"id":6,"result"`, "%s: the connection lives", name)
	}
}

func TestX06NoAnswerAfterCancel(t *testing.T) {
	require.Empty(t, peerScript(t, "recv 1 "+fmt.Sprintf(slowID, "5"), "recv 2 "+fmt.Sprintf(cancel, "5"),
		"perform 1.1", "progress 1.1 1 1", "log 1.1 error 1", "crash 1.1", "timeout 1.1"))
}

func TestX07CancelOfFalsyIDs(t *testing.T) {
	for _, id := range []string{"0", `""`} {
		require.Empty(t, peerScript(t, "recv 1 "+fmt.Sprintf(slowID, id), "recv 2 "+fmt.Sprintf(cancel, id), "perform 1.1"), id)
	}
	for _, other := range []string{"null", `"0"`, "false", "[0]"} {
		require.Len(t, peerScript(t, "recv 1 "+fmt.Sprintf(slowID, "0"), "recv 2 "+fmt.Sprintf(cancel, other), "perform 1.1"), 1, other)
	}
	require.Len(t, peerScript(t, "recv 1 "+fmt.Sprintf(slowID, "0"), `recv 2 {"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, "perform 1.1"), 1)
}

// Progress stands before the answer, or is not written.
func TestX11ProgressNextToTheAnswer(t *testing.T) {
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},"_meta":{"progressToken":"t",` + metaText[len(`"_meta":{`):] + `}}`
	read := peerScript(t, "recv 1 "+call, "progress 1.1 1 2", "perform 1.1", "progress 1.1 2 2", "progress 7.1 1 1")
	require.Len(t, read, 2)
	require.Contains(t, read[0], mcp.NoteProgress)
	require.Contains(t, read[1], `"result"`)
}

// initialize is answered at once, so that a cancel finds nothing.
func TestX17InitializeIsNotCancelled(t *testing.T) {
	read := peerScript(t, "recv 1 "+hello, "recv 2 "+fmt.Sprintf(cancel, `"hello"`), `recv 3 {"jsonrpc":"2.0","id":3,"method":"ping"}`)
	require.Len(t, read, 2)
}

func TestX18CallAfterACancelledCall(t *testing.T) {
	p := &player{t: t, runs: make(map[mcp.InvocationID]*mcp.Invocation)}
	p.reset()
	for i := 1; i < 3000; i += 3 {
		p.play(fmt.Sprintf("recv %d "+slowID, i, fmt.Sprint(i)))
		p.play(fmt.Sprintf("recv %d "+cancel, i+1, fmt.Sprint(i)))
		p.play(fmt.Sprintf("recv %d "+slowID, i+2, fmt.Sprint(i+2)))
		require.Empty(t, p.play(fmt.Sprintf("perform %d.1", i)))
		require.Len(t, p.play(fmt.Sprintf("perform %d.1", i+2)), 2)
	}
	require.Zero(t, p.state.Live())
}
