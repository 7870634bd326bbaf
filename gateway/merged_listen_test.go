package gateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// A modern client listens at several servers at once, of either era, under one id.
func TestMergedListen(t *testing.T) {
	a, b := &fake.Server{}, &fake.Server{}
	a.Initialize = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"a","version":"1"}}`
	b.Discover = discovered
	g := mergedOf(t, a, b)
	c, _ := join(g)
	require.NoError(t, c.Say(listen(`"L"`, `"toolsListChanged":true,"resourceSubscriptions":["x:/a","x:/b","x:/nobody"]`)))
	lists := map[string]map[string]string{"a": {"resources/list": `{"resources":[{"uri":"x:/a"}]}`}, "b": {"resources/list": `{"resources":[{"uri":"x:/b"}]}`}}
	for name, s := range map[string]*fake.Server{"a": a, "b": b} {
		for range 2 {
			id, frame := s.Way(0).NextRequest()
			result := `{}`
			if strings.Contains(frame, `"resources/list"`) {
				result = lists[name]["resources/list"]
			}
			s.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
		}
	}
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"},`+
		`"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:/a","x:/b"]}}}`, c.Next())
	id, frame := a.Way(0).NextRequest()
	require.Equal(t, subscribe(id, `x:/a`), frame)
	a.Way(0).Say(answer(id))
	id, frame = b.Way(0).NextRequest()
	require.Contains(t, frame, `"resourceSubscriptions":["x:/b"]`)
	under := func(method, params string) string {
		return `{"jsonrpc":"2.0","method":"notifications/` + method + `","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` + params + `}}`
	}
	b.Way(0).Say(under(`subscriptions/acknowledged`, `,"notifications":{}`))
	b.Way(0).Say(under(`tools/list_changed`, ``))
	const marked = `"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}`
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+marked+`}}`, c.Next())
	b.Way(0).Say(under(`resources/updated`, `,"uri":"x:/b"`))
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+marked+`,"uri":"x:/b"}}`, c.Next())
	a.Way(0).Say(toolsChanged)
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+marked+`}}`, c.Next())
	a.Way(0).Say(updated(`x:/a`))
	require.Contains(t, c.Next(), `"uri":"x:/a"`)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"L"}}`))
	id, frame = a.Way(0).NextRequest()
	require.Equal(t, unsubscribe(id, `x:/a`), frame)
	a.Way(0).Say(answer(id))
	a.Way(0).Say(toolsChanged)
	require.Empty(t, c.Unread())
	require.Zero(t, g.Stats().InFlight)
}
