package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// Above 10,000 closed exchanges the newest 7,500 are kept. A remembered one
// suppresses a repeated frame, a forgotten one is as good as new.
func TestClosedRecordsAreBounded(t *testing.T) {
	s := mcp.Init(newServer(t), mcp.Options{})
	ping := func(id mcp.ExchangeID) int {
		return len(mcp.Step(s, mcp.Received{Exchange: id, Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)}, nil))
	}
	for id := mcp.ExchangeID(1); id <= 10_000; id++ {
		require.Equal(t, 3, ping(id))
	}
	require.Zero(t, ping(1), "10,000 are remembered")
	require.Equal(t, 3, ping(10_001))
	require.Zero(t, ping(10_001))
	require.Zero(t, ping(10_001-7_499), "the newest 7,500 are remembered")
	require.Equal(t, 3, ping(10_001-7_500), "what is older is new")
}

func TestNothingIsRememberedOnDemand(t *testing.T) {
	s := mcp.Init(newServer(t), mcp.Options{MaxClosed: -1})
	for range 3 {
		require.Len(t, mcp.Step(s, mcp.Received{Exchange: 1, Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)}, nil), 3)
	}
}

// Late output of a forgotten exchange is suppressed too: its invocation is gone.
func TestLateOutputOfAForgottenExchange(t *testing.T) {
	s := mcp.Init(newServer(t), mcp.Options{MaxClosed: 4})
	effects := mcp.Step(s, mcp.Received{Exchange: 1, Frame: []byte(fmt.Sprintf(slowID, "1"))}, nil)
	run := effects[1].Run
	mcp.Step(s, mcp.ExchangeClosed{Exchange: 1}, nil)
	for id := mcp.ExchangeID(2); id < 20; id++ {
		mcp.Step(s, mcp.ExchangeClosed{Exchange: id}, nil)
	}
	require.Empty(t, mcp.Step(s, mcp.Crashed{Invocation: run.ID()}, nil))
	require.Zero(t, s.Live())
}

func TestBoundsOfOneConnection(t *testing.T) {
	limits := mcp.Options{MaxWatched: 2, MaxBatch: 2, MaxRounds: 1}
	p := &player{t: t, runs: map[mcp.InvocationID]*mcp.Invocation{}}
	p.state = mcp.Init(newServer(t), limits)
	p.feed(strings.Replace(hello, "2025-11-25", "2025-03-26", 1))
	p.feed(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["a","b"]},` + metaText + `}}`)
	p.feed(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["a","b","c"]},` + metaText + `}}`)
	p.feed(`[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"ping"}]`)
	for _, uri := range []string{"test://text", "test://gone", "test://item/1/data"} {
		p.feed(`{"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"` + uri + `"}}`)
	}
	require.Contains(t, p.read[1], `"resourceSubscriptions":["a","b"]`)
	require.Contains(t, p.read[2], `"code":-32602,"message":"Too many watched resources"`)
	require.Equal(t, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Batch is too large"}}`, p.read[3])
	require.Contains(t, p.read[5], `"result":{}`)
	require.Contains(t, p.read[6], `"Too many watched resources"`)
}

// A handler of the older era that never has enough is stopped.
func TestInputRoundsAreBounded(t *testing.T) {
	p := &player{t: t, runs: map[mcp.InvocationID]*mcp.Invocation{}}
	p.state = mcp.Init(newServer(t), mcp.Options{MaxRounds: 1})
	p.play("recv 1 " + strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{},"roots":{}}`, 1))
	p.play(`recv 2 {"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.play(`recv 3 {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask"}}`)
	p.play("perform 3.1")
	p.play(`answer 3.1 name {}`)
	require.Equal(t, []string{"start 3.2 tools/call ask"}, p.play(`answer 3.1 roots {}`))
	require.Equal(t, []string{`answer 3 {"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Too many input rounds"}}`, "close 3"}, p.play("perform 3.2"))
}

func TestExchangesWithoutAnID(t *testing.T) {
	s := mcp.Init(newServer(t), mcp.Options{})
	frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	for _, id := range []mcp.ExchangeID{0, -1, 1 << 62} {
		require.Empty(t, mcp.Step(s, mcp.Received{Exchange: id, Frame: frame}, nil))
		require.Empty(t, mcp.Step(s, mcp.ExchangeClosed{Exchange: id}, nil))
	}
	a, b := mcp.NewExchangeID(), mcp.NewExchangeID()
	require.Less(t, a.Int(), b.Int())
}
