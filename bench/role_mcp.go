package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// stepFrame is a tools/call of the modern era as clients write it.
const stepFrame = `{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a sentence that somebody wants to hear again, word by word"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{}},"progressToken":12345}}}`

// stepRole measures the MCP reducer on a tools/call: the scan of its frame
// ("scan"), the step that admits it ("received"), the one that answers it
// ("finished"), each in nanoseconds, and what both allocate ("allocs"). The three
// take turns of a few milliseconds, and the median turn counts.
func stepRole([]string) (claim.Values, error) {
	const calls, turns = 2000, 100
	echo := mcp.NewTool(mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.Request, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text, nil
	})
	server, err := mcp.NewServer(mcp.Description{Info: mcp.Implementation{Name: "bench", Version: "1"}, Tools: []mcp.ServerTool{echo}})
	if err != nil {
		return nil, err
	}
	var (
		frame, state = []byte(stepFrame), mcp.Init(server, mcp.Options{})
		effects      = make([]mcp.Effect, 0, 8)
		last         mcp.ExchangeID
		runs         = make([]*mcp.Invocation, 0, calls)
		outcome      mcp.Outcome
	)
	receive := func() {
		last++
		effects = mcp.Step(state, mcp.Received{Exchange: last, Frame: frame}, effects[:0])
		runs = append(runs, effects[1].Run)
	}
	receive()
	if outcome = mcp.Perform(context.Background(), runs[0], nil).Outcome; outcome.Status() != mcp.Succeeded {
		return nil, fmt.Errorf("the tool came to %v", outcome.Status())
	}
	finish := func() {
		for _, v := range runs {
			effects = mcp.Step(state, mcp.Finished{Invocation: v.ID(), Outcome: outcome}, effects[:0])
		}
		runs = runs[:0]
	}
	const few = 64 // in flight at once
	took := map[string][]float64{}
	for range turns {
		var e codec.Envelope
		began := time.Now()
		for range calls {
			if err := codec.Scan(frame, &e, codec.ScanOptions{}); err != nil {
				return nil, err
			}
		}
		took["scan"] = append(took["scan"], float64(time.Since(began))/calls)
		var received, finished time.Duration
		for done := 0; done < calls; done += few {
			began = time.Now()
			for range min(few, calls-done) {
				receive()
			}
			received += time.Since(began)
			began = time.Now()
			finish()
			finished += time.Since(began)
		}
		took["received"] = append(took["received"], float64(received)/calls)
		took["finished"] = append(took["finished"], float64(finished)/calls)
	}
	values := claim.Values{"allocs": allocations(1, func() { receive(); finish() })}
	for name, all := range took {
		slices.Sort(all)
		values[name] = all[len(all)/2]
	}
	return values, nil
}
