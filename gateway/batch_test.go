package gateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// batching is a client of the revision that has batches.
func batching(t *testing.T, g *gateway.Gateway) *fake.Client {
	t.Helper()
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	require.Contains(t, c.Next(), `"protocolVersion":"2025-03-26"`)
	return c
}

// The requests of a batch go upstream by themselves; their answers come as one array,
// in whatever order, each under its id; an array of a server is taken apart.
func TestG07Batch(t *testing.T) {
	for name, asOne := range map[string]bool{"a batch": true, "three frames": false} {
		t.Run(name, func(t *testing.T) {
			g, server := start(t, shared())
			c := batching(t, g)
			require.NoError(t, c.Say(`[{"jsonrpc":"2.0","id":1,"method":"a"}, {"jsonrpc":"2.0","id":2,"method":"b"},{"jsonrpc":"2.0","id":3,"method":"c"}]`))
			w := server.Way(0)
			one, _ := w.NextRequest()
			two, _ := w.NextRequest()
			three, _ := w.NextRequest()
			answers := []string{result(three, "3"), result(one, "1"), result(two, "2")}
			if asOne {
				w.Say("[" + strings.Join(answers, ",") + "]")
			} else {
				w.Say(answers[0])
				w.Say(answers[1])
				require.Empty(t, c.Unread(), "it is one answer")
				w.Say(answers[2])
			}
			require.Equal(t, `[`+result("3", "3")+`,`+result("1", "1")+`,`+result("2", "2")+`]`, c.Next())
			require.Zero(t, g.Stats().InFlight)
		})
	}
}

func result(id, value string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + value + `}`
}

// What is no message is answered in its place; notifications and cancelled requests get
// no answer, and a batch without one gets none.
func TestC17OddBatches(t *testing.T) {
	g, server := start(t, shared())
	c := batching(t, g)
	for batch, want := range map[string]string{
		`[]`:  `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`[1]`: `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`[1,{"jsonrpc":"2.0","id":1,"method":"ping"}]`: `,{"jsonrpc":"2.0","id":1,"result":{}}]`,
		`[[]]`: `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`[{"jsonrpc":"2.0","id":null,"method":"ping"}]`:                                     `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`:                                  `"id":1,"error":{"code":-32600,`,
		`[{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","name":"b"}}]`:          `"id":1,"error":{"code":-32600,`,
		`[{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":null}}}]`: `"id":1,"error":{"code":-32600,`,
	} {
		require.NoError(t, c.Say(batch))
		require.Contains(t, c.Next(), want, batch)
	}
	require.NoError(t, c.Say(`[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`))
	require.NoError(t, c.Say(`[{"jsonrpc":"2.0","id":1,"method":"slow"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`))
	_ = server.Way(0).Next()
	require.Len(t, server.Way(0).Cancels(), 1)
	require.Empty(t, c.Unread())
	require.Zero(t, g.Stats().InFlight)
}

// A client of another revision sends no batches.
func TestBatchOfOtherRevision(t *testing.T) {
	g, _ := start(t, shared())
	c, _ := join(g)
	begin(t, c)
	require.NoError(t, c.Say(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`))
	require.Empty(t, c.Unread())
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.UnreadableClient])
}
