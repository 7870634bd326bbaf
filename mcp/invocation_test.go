package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// start gives the invocation that a frame leads to.
func start(t testing.TB, in mcp.Received, change ...func(*mcp.Description)) *mcp.Invocation {
	t.Helper()
	in.Exchange = 1
	effects := mcp.Step(mcp.Init(newServer(t, change...), mcp.Options{Seed: mcp.Seed{1, 2}}), in, nil)
	require.Len(t, effects, 2, "%s", effects[0].Frame)
	return effects[1].Run
}

func callWith(meta string) mcp.Received {
	return mcp.Received{Frame: []byte(`{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{"url":{}}}` + meta + `}}}`)}
}

func TestInvocation(t *testing.T) {
	in := callWith(`,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"2"},"progressToken":7,"io.modelcontextprotocol/logLevel":"notice","io.github.gleam-dream/idempotency-key":"once"`)
	in.Caller = mcp.Caller{Principal: "ann", Value: 5}
	v := start(t, in)
	for i := range in.Frame { // the invocation has its own copy
		in.Frame[i] = 'x'
	}
	require.Equal(t, mcp.ExchangeID(1), v.Exchange())
	require.Equal(t, mcp.ExchangeID(1), v.ID().Exchange())
	require.Equal(t, mcp.MethodCallTool, v.Method())
	require.Equal(t, "echo", v.Tool())
	require.Equal(t, "echo", v.Name())
	require.Equal(t, mcp.Caller{Principal: "ann", Value: 5}, v.Caller())
	require.Equal(t, mcp.Modern, v.Revision())
	require.Equal(t, codec.StringID("a"), v.RequestID())
	require.Equal(t, codec.IntID(7), v.ProgressToken())
	require.Equal(t, mcp.LevelNotice, v.LogLevel())
	require.Equal(t, "once", v.IdempotencyKey())
	require.JSONEq(t, `{"text":"x"}`, string(v.Arguments()))
	require.Contains(t, string(v.Params()), `"arguments":{"text":"x"}`)
	info, said := v.ClientInfo()
	require.True(t, said)
	require.Equal(t, mcp.Implementation{Name: "c", Version: "2"}, info)
	require.NotNil(t, v.ClientCapabilities().Sampling)
	require.Nil(t, v.ClientCapabilities().Elicitation.Form)
	require.NotNil(t, v.ClientCapabilities().Elicitation.URL)

	v = start(t, mcp.Received{Frame: []byte(`{"jsonrpc":"2.0","id":-0,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"poem"},"argument":{"name":"about","value":""},` + metaText + `}}`)})
	require.Empty(t, v.Tool())
	require.Equal(t, "-0", v.RequestID().String())
	require.True(t, v.ProgressToken().IsAbsent())
	_, said = v.ClientInfo()
	require.False(t, said)
}

func TestCorrelation(t *testing.T) {
	const key = `,"io.github.gleam-dream/correlation":`
	for name, c := range map[string]struct{ transport, meta, want string }{
		"the transport's":      {"abc", key + `"def"`, "abc"},
		"that of _meta":        {"", key + `"def"`, "def"},
		"a bad transport's":    {"a b", key + `"def"`, "def"},
		"too long":             {strings.Repeat("x", 129), key + `"def"`, "def"},
		"as long as it can be": {strings.Repeat("x", 128), "", strings.Repeat("x", 128)},
		"a bad one in _meta":   {"", key + `"\u00e9"`, ""},
		"no string":            {"", key + `7`, ""},
		"none":                 {"", "", ""},
	} {
		in := callWith(c.meta)
		in.Correlation = c.transport
		got := start(t, in).Correlation().String()
		if c.want == "" {
			require.Regexp(t, "^[0-9a-f]{32}$", got, name)
		} else {
			require.Equal(t, c.want, got, name)
		}
	}
	require.Empty(t, mcp.Correlation{}.String())
}

// Over HTTP the value has a header, and a refused request is known by the
// connection's own.
func TestCorrelationIsNotTakenFromMeta(t *testing.T) {
	in := callWith(`,"io.github.gleam-dream/correlation":"def"`)
	in.Headers = &mcp.Headers{Version: "2026-07-28", Method: mcp.MethodCallTool, Name: "echo"}
	require.Regexp(t, "^[0-9a-f]{32}$", start(t, in).Correlation().String())

	in.Headers, in.Exchange = nil, 1
	in.Frame = []byte(strings.Replace(string(in.Frame), `"echo"`, `"nobody"`, 1))
	effects := mcp.Step(mcp.Init(newServer(t), mcp.Options{Seed: mcp.Seed{1, 2}}), in, nil)
	require.Equal(t, mcp.Close, effects[1].Kind)
	require.Regexp(t, "^[0-9a-f]{32}$", effects[1].Correlation.String())
}

// Every effect of a request carries one value, and no two exchanges have the same.
func TestCorrelationOfEffects(t *testing.T) {
	s := mcp.Init(newServer(t), mcp.Options{Seed: mcp.Seed{7, 8}})
	seen := map[string]bool{}
	for id := mcp.ExchangeID(1); id <= 1000; id++ {
		effects := mcp.Step(s, mcp.Received{Exchange: id, Frame: callWith("").Frame}, nil)
		value := effects[1].Run.Correlation().String()
		require.Equal(t, value, effects[0].Correlation.String())
		effects = mcp.Step(s, mcp.TimedOut{Invocation: effects[1].Invocation}, nil)
		require.Equal(t, value, effects[1].Correlation.String())
		require.False(t, seen[value])
		seen[value] = true
	}
}

func TestTrace(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for name, c := range map[string]struct{ parent, state, wantParent, wantState string }{
		"both":                   {good, "a=1,b@c=2", good, "a=1,b@c=2"},
		"parent alone":           {good, "", good, ""},
		"state alone":            {"", "a=1", "", ""},
		"version ff":             {"ff" + good[2:], "a=1", "", ""},
		"a later version":        {"cc" + good[2:] + "-more", "a=1", "cc" + good[2:] + "-more", "a=1"},
		"version 00 with more":   {good + "-more", "a=1", "", ""},
		"upper case":             {strings.ToUpper(good), "", "", ""},
		"trace id of zeros":      {"00-" + strings.Repeat("0", 32) + good[35:], "", "", ""},
		"parent id of zeros":     {good[:36] + strings.Repeat("0", 16) + good[52:], "", "", ""},
		"short":                  {good[:54], "", "", ""},
		"too long":               {"cc" + good[2:] + "-" + strings.Repeat("x", 512), "", "", ""},
		"a bad state is dropped": {good, "A=1", good, ""},
		"a key twice":            {good, "a=1,a=2", good, ""},
		"no value":               {good, "a=", good, ""},
		"too many":               {good, manyMembers(33), good, ""},
		"as many as can be":      {good, manyMembers(32), good, manyMembers(32)},
		"a space at the end":     {good, "a=b c", good, "a=b c"},
	} {
		meta := ""
		if c.parent != "" {
			meta += `,"traceparent":"` + c.parent + `"`
		}
		if c.state != "" {
			meta += `,"tracestate":"` + c.state + `"`
		}
		trace := start(t, callWith(meta)).Trace()
		require.Equal(t, mcp.Trace{Parent: c.wantParent, State: c.wantState}, trace, name)
	}
}

func manyMembers(n int) string {
	var members []string
	for i := range n {
		members = append(members, "k"+string(rune('a'+i/26))+string(rune('a'+i%26))+"=1")
	}
	return strings.Join(members, ",")
}

type recorder struct {
	reports []mcp.Progress
	lines   []mcp.LogMessage
}

func (r *recorder) Report(_ context.Context, p mcp.Progress) error {
	r.reports = append(r.reports, p)
	return nil
}

func (r *recorder) Log(_ context.Context, m mcp.LogMessage) error {
	r.lines = append(r.lines, m)
	return nil
}

// A handler reaches its client through its request, where the client asked for it.
func TestRequestReachesTheHost(t *testing.T) {
	talkative := func(d *mcp.Description) {
		d.Tools = []mcp.ServerTool{mcp.NewTool(mcp.Tool{Name: "echo"}, func(ctx context.Context, r *mcp.Request, in echoIn) (string, error) {
			if err := r.Report(ctx, mcp.Progress{Value: 1, Total: 2}); err != nil {
				return "", err
			}
			return in.Text, r.Log(ctx, mcp.LevelInfo, "l", map[string]int{"a": 1})
		})}
	}
	host := new(recorder)
	mcp.Perform(context.Background(), start(t, callWith(`,"progressToken":1`), talkative), host)
	require.Equal(t, []mcp.Progress{{Value: 1, Total: 2}}, host.reports)
	require.Equal(t, `{"a":1}`, string(host.lines[0].Data))
	mcp.Perform(context.Background(), start(t, callWith(""), talkative), host)
	require.Len(t, host.reports, 2, "without a token it is the host that has nothing to do")
	require.Equal(t, mcp.Succeeded, mcp.Perform(context.Background(), start(t, callWith(`,"progressToken":1`), talkative), nil).Outcome.Status())
}

func TestSignalCancelled(t *testing.T) {
	v := start(t, callWith(""))
	ctx, cancel := context.WithCancelCause(context.Background())
	mcp.SignalCancelled(cancel, v.ID())
	mcp.SignalCancelled(cancel, 5)
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	var cause *mcp.CancelledError
	require.ErrorAs(t, context.Cause(ctx), &cause)
	require.Equal(t, v.ID(), cause.Invocation)
	require.ErrorIs(t, cause, context.Canceled)
	require.Contains(t, cause.Error(), "was cancelled")
}

// What stands in _meta can be read as it came, in requests too that share their
// _meta with the one before.
func TestInvocationMeta(t *testing.T) {
	state := mcp.Init(newServer(t), mcp.Options{})
	for i, token := range []string{"7", "8"} {
		in := callWith(`,"progressToken":` + token + `,"baggage":"a=b","n\u0061me":{"x":1}`)
		in.Exchange = mcp.ExchangeID(i + 1)
		effects := mcp.Step(state, in, nil)
		require.Len(t, effects, 2)
		v := effects[1].Run
		require.Equal(t, token, string(v.Meta(mcp.MetaProgressToken)))
		require.Equal(t, `"a=b"`, string(v.Meta(mcp.MetaBaggage)))
		require.JSONEq(t, `{"x":1}`, string(v.Meta("name")))
		require.Nil(t, v.Meta("nobody"))
		require.Empty(t, v.Prompt())
	}
	v := start(t, mcp.Received{Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"poem","arguments":{"about":"x"},` + metaText + `}}`)})
	require.Equal(t, "poem", v.Prompt())
	require.Nil(t, v.Meta(mcp.MetaProgressToken))
}
