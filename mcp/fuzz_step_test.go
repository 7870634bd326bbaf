package mcp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// model is a second, dumb idea of a connection: sets and counters, and what each
// input may lead to. It knows nothing of the messages.
type model struct {
	t        testing.TB
	admitted map[mcp.ExchangeID]int // how often
	answered map[mcp.ExchangeID]bool
	closed   map[mcp.ExchangeID]bool
	running  map[mcp.InvocationID]*mcp.Invocation
	asked    map[string]mcp.InvocationID // by invocation and key
	streams  map[mcp.ExchangeID]bool
	touched  map[mcp.ExchangeID]bool // received, or closed by the transport
}

func newModel(t testing.TB) *model {
	return &model{
		t: t, admitted: map[mcp.ExchangeID]int{}, answered: map[mcp.ExchangeID]bool{}, closed: map[mcp.ExchangeID]bool{},
		running: map[mcp.InvocationID]*mcp.Invocation{}, asked: map[string]mcp.InvocationID{},
		streams: map[mcp.ExchangeID]bool{}, touched: map[mcp.ExchangeID]bool{},
	}
}

// step judges what one input led to.
func (m *model) step(in mcp.Input, effects []mcp.Effect) {
	switch in := in.(type) {
	case mcp.Received:
		if m.touched[in.Exchange] {
			require.Empty(m.t, effects, "a frame on a known exchange")
			return
		}
		m.touched[in.Exchange] = true
		require.NotEmpty(m.t, effects, "every frame has an effect")
	case mcp.ExchangeClosed:
		if !m.touched[in.Exchange] {
			require.Empty(m.t, effects)
		}
		m.touched[in.Exchange] = true
		for i := range effects {
			require.NotEqual(m.t, mcp.Write, effects[i].Kind, "nobody is there to read it")
		}
	case mcp.Finished:
		if m.running[in.Invocation] == nil {
			require.Empty(m.t, effects, "a handler that is over is not heard")
		} else {
			require.True(m.t, len(effects) > 0 || m.waits(in.Invocation), "a handler's end is not forgotten")
		}
	case mcp.Crashed, mcp.TimedOut, mcp.Progressed, mcp.Logged, mcp.Answered:
		id := invocationOf(in)
		if m.running[id] == nil && !m.waits(id) {
			require.Empty(m.t, effects, "%T of a handler that is over", in)
		}
	}
	for i := range effects {
		m.effect(&effects[i])
	}
}

// waits reports whether a call waits for the client: its handler ended and asked.
func (m *model) waits(id mcp.InvocationID) bool {
	return !m.closed[id.Exchange()] && m.touched[id.Exchange()]
}

func invocationOf(in mcp.Input) mcp.InvocationID {
	switch in := in.(type) {
	case mcp.Crashed:
		return in.Invocation
	case mcp.TimedOut:
		return in.Invocation
	case mcp.Progressed:
		return in.Invocation
	case mcp.Logged:
		return in.Invocation
	case mcp.Answered:
		return in.Invocation
	}
	return 0
}

func (m *model) effect(e *mcp.Effect) {
	id := e.Exchange
	require.Falsef(m.t, m.closed[id], "%v of exchange %d, which is closed", e.Kind, id)
	switch e.Kind {
	case mcp.Admitted:
		m.admitted[id]++
	case mcp.Start:
		require.Positivef(m.t, m.admitted[id], "work for %d before it was admitted", id)
		require.Equal(m.t, id, e.Run.Exchange())
		require.Nil(m.t, m.running[e.Invocation], "one invocation starts once")
		m.running[e.Invocation] = e.Run
	case mcp.Cancel:
		delete(m.running, e.Invocation)
	case mcp.Write:
		requireJSON(m.t, e.Frame)
		require.Falsef(m.t, m.answered[id], "exchange %d is written to behind its answer", id)
		if e.Final {
			m.answered[id] = true
		}
		if e.Refusal != mcp.NotRefused {
			require.Zerof(m.t, m.admitted[id], "exchange %d is admitted and refused", id)
		}
	case mcp.Close:
		m.closed[id] = true
		for run := range m.running {
			if run.Exchange() == id {
				delete(m.running, run)
			}
		}
	case mcp.Ask:
		m.asked[fmt.Sprint(e.Invocation, e.Key)] = e.Invocation
	}
}

// frames are what the fuzzer's peer sends. %d is a small id, so that ids collide.
var frames = []string{
	`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"_meta":{"progressToken":1,` + metaText[len(`"_meta":{`):] + `}}`,
	`{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":"ask",` + metaText + `}}`,
	`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask"}}`,
	`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"_meta":{"progressToken":"t"}}}`,
	`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{` + metaText + `}}`,
	`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"test://text",` + metaText + `}}`,
	`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://text"]},` + metaText + `}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"%d"}}`,
	`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`,
	`{"jsonrpc":"2.0","method":"notifications/initialized","params":{"x":%d}}`,
	`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept"}}`,
	`{"jsonrpc":"2.0","id":%d,"method":"ping"}`,
	`[{"jsonrpc":"2.0","id":%[1]d,"method":"tools/call","params":{"name":"ask"}},{"jsonrpc":"2.0","id":"b","method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%[1]d}},` +
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}]`,
	`{"jsonrpc":"2.0","id":%d,"method":"logging/setLevel","params":{"level":"debug"}}`,
	`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"test://text"}}`,
	`{"jsonrpc":"2.0","id":%d.5,"method":"ping"}`,
	`nonsense %d`,
}

// history turns bytes into inputs, three bytes each: what, about which exchange,
// with what.
func history(t testing.TB, server *mcp.Server, script []byte, judge func(mcp.Input, []mcp.Effect)) *mcp.State {
	s := mcp.Init(server, mcp.Options{MaxClosed: 1 << 20})
	started := map[mcp.InvocationID]*mcp.Invocation{}
	ids := []mcp.InvocationID{0}
	pick := func(b byte) mcp.InvocationID { return ids[int(b)%len(ids)] }
	for ; len(script) >= 3; script = script[3:] {
		what, about, with := script[0], script[1], script[2]
		exchange := mcp.ExchangeID(about) + 1
		var in mcp.Input
		switch what % 16 {
		default:
			in = mcp.Received{Exchange: exchange, Frame: fmt.Appendf(nil, frames[int(what/16+with)%len(frames)], with%4)}
		case 6, 7, 8:
			id := pick(about)
			if v := started[id]; v != nil {
				in = mcp.Perform(context.Background(), v, nil)
			} else {
				in = mcp.Finished{Invocation: id, Outcome: mcp.Fail(nil)}
			}
		case 9:
			in = mcp.Progressed{Invocation: pick(about), Progress: mcp.Progress{Value: float64(with)}}
		case 10:
			in = mcp.Crashed{Invocation: pick(about)}
		case 11:
			in = mcp.TimedOut{Invocation: pick(about)}
		case 12:
			in = mcp.ExchangeClosed{Exchange: exchange}
		case 13:
			in = []mcp.Input{
				mcp.Notify{Notification: mcp.Notification{Kind: mcp.NotificationKind(with % 6), URI: "test://text"}},
				mcp.EndStreams{}, mcp.UnregisterTool{Name: "echo"}, mcp.RegisterTool{Tool: mcp.NewTool(mcp.Tool{Name: "echo"}, echo)},
			}[about%4]
		case 14:
			in = mcp.Answered{Invocation: pick(about), Key: []string{"name", "roots", "color"}[with%3], Result: [][]byte{[]byte("{}"), nil}[with/128]}
		case 15:
			in = mcp.Logged{Invocation: pick(about), Message: mcp.LogMessage{Level: mcp.Level(with % 10)}}
		}
		effects := mcp.Step(s, in, nil)
		judge(in, effects)
		for i := range effects {
			if e := &effects[i]; e.Kind == mcp.Start {
				started[e.Invocation] = e.Run
				ids = append(ids, e.Invocation)
			}
		}
	}
	return s
}

// Whatever happens in whatever order: one answer for an exchange, no work before
// admission, nothing behind the end, and the same again for the same inputs.
func FuzzStep(f *testing.F) {
	f.Add([]byte{0, 0, 9, 0, 1, 2, 6, 1, 0, 14, 1, 0, 14, 1, 1, 6, 2, 0})
	f.Add([]byte{0, 0, 0, 0, 1, 7, 6, 1, 0, 12, 0, 0, 0, 2, 6, 13, 0, 1, 13, 1, 0})
	f.Add([]byte{0, 0, 9, 0, 1, 13, 6, 1, 0, 0, 2, 10, 14, 1, 1, 14, 1, 0, 6, 2, 0, 10, 3, 0})
	server := newServer(f)
	f.Fuzz(func(t *testing.T, script []byte) {
		checkHistory(t, server, script[:min(len(script), 900)])
	})
}

// The same over random histories, wherever the fuzzer does not run.
func TestStepHistories(t *testing.T) {
	server, random := newServer(t), rand.New(rand.NewPCG(1, 2))
	for range 150 {
		script := make([]byte, 300)
		for i := range script {
			script[i] = byte(random.Uint32())
			if i%3 == 1 && random.IntN(3) > 0 {
				script[i] %= 12 // so that inputs meet on few exchanges
			}
		}
		checkHistory(t, server, script)
	}
}

func checkHistory(t testing.TB, server *mcp.Server, script []byte) {
	m := newModel(t)
	var first [][]mcp.Effect
	s := history(t, server, script, func(in mcp.Input, effects []mcp.Effect) {
		m.step(in, effects)
		first = append(first, effects)
	})
	n := 0
	history(t, server, script, func(_ mcp.Input, effects []mcp.Effect) {
		require.Equal(t, plain(first[n]), plain(effects), "the same inputs, step %d", n)
		n++
	})
	last := func(in mcp.Input) { m.step(in, mcp.Step(s, in, nil)) }
	last(mcp.EndStreams{})
	for id := range m.touched {
		last(mcp.ExchangeClosed{Exchange: id})
	}
	require.Zero(t, s.Live(), "what the transport closed is gone")
	for id := range m.admitted {
		require.True(t, m.closed[id], "exchange %d was admitted and never closed", id)
	}
}

// plain is effects without what cannot be compared.
func plain(effects []mcp.Effect) []string {
	out := make([]string, len(effects))
	for i := range effects {
		e := &effects[i]
		out[i] = fmt.Sprint(e.Kind, e.Exchange, e.Invocation, string(e.Frame), e.Method, e.Key, e.ID, e.Err, e.Correlation, e.Code, e.Refusal, e.Final)
	}
	return out
}
