package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// counting is a Sink that counts answers.
type counting struct {
	n    atomic.Int64
	want int64
	all  chan struct{}
}

func (c *counting) Write(mcp.ExchangeID, []byte) error {
	if c.n.Add(1) == c.want {
		close(c.all)
	}
	return nil
}

func (c *counting) Close(mcp.ExchangeID) {}

// C3: whoever holds the lock when a handler comes to its end takes the end along,
// however little he wanted the lock for. The last of the answers comes although
// nobody sends anything after it.
func TestNoEndIsLeftLying(t *testing.T) {
	d, err := mcp.NewServer(mcp.Description{
		Info: mcp.Implementation{Name: "x", Version: "1"},
		Tools: []mcp.ServerTool{{
			Tool:   mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return mcp.ToolText("a"), nil },
		}},
	})
	require.NoError(t, err)
	s, err := New(d, Options{Observer: func(Event) {}})
	require.NoError(t, err)
	for range 20 {
		const calls = 50
		out := &counting{want: calls, all: make(chan struct{})}
		c, err := s.Connect(context.Background(), mcp.Caller{}, out)
		require.NoError(t, err)
		over := make(chan struct{})
		var pests sync.WaitGroup
		for _, take := range []func(){
			func() { c.isClosed() }, func() { c.revision() }, func() { <-c.stillness() },
			func() { ctx, stop := context.WithCancel(context.Background()); stop(); _ = c.settled(ctx) },
		} {
			pests.Go(func() {
				for {
					select {
					case <-over:
						return
					default:
						take()
					}
				}
			})
		}
		for i := range calls {
			require.NoError(t, c.Send(mcp.NewExchangeID(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, i), ""))
		}
		close(over) // from here on nobody comes by any more
		<-out.all
		pests.Wait()
		require.NoError(t, c.Stop(context.Background()))
	}
}
