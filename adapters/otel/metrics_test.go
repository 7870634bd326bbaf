package otel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"

	"github.com/correlator-go/correlator/adapters/otel"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

const (
	clientOperation = "mcp.client.operation.duration"
	serverOperation = "mcp.server.operation.duration"
)

// eventuallyCounts waits until a histogram has what is wanted and nothing else: what
// a server counts it counts after its answer went out.
func (r *rig) eventuallyCounts(name string, want map[string]uint64) {
	r.t.Helper()
	require.EventuallyWithT(r.t, func(c *assert.CollectT) {
		got := r.counts(name)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			c.Errorf("%s has\n%v, not\n%v", name, got, want)
		}
	}, eventually, 5*time.Millisecond)
}

// The names, units, descriptions and boundaries are those of the conventions, as the
// generated code of the last release that has them knows them.
func TestInstruments(t *testing.T) {
	r := newRig(t)
	c, _, _ := pair(t, r, client.EraModern, serve.Options{})
	_, err := c.CallTool(t.Context(), "echo", nil, client.CallOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	var all map[string]metricdata.Metrics
	require.Eventually(t, func() bool {
		all = r.collect()
		_, ours := all["mcp.client.session.duration"]
		_, theirs := all["mcp.server.session.duration"]
		return ours && theirs
	}, eventually, 5*time.Millisecond)
	for _, want := range []interface {
		Name() string
		Unit() string
		Description() string
	}{mcpconv.ClientOperationDuration{}, mcpconv.ServerOperationDuration{}, mcpconv.ClientSessionDuration{}, mcpconv.ServerSessionDuration{}} {
		m, ok := all[want.Name()]
		require.True(t, ok, want.Name())
		require.Equal(t, want.Unit(), m.Unit)
		require.Equal(t, want.Description(), m.Description)
		h := m.Data.(metricdata.Histogram[float64])
		require.Equal(t, []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}, h.DataPoints[0].Bounds)
	}
	for name, m := range all {
		require.True(t, strings.HasPrefix(name, "mcp.") || strings.HasPrefix(name, "correlator."), name)
		require.NotEmpty(t, m.Description, name)
		require.NotEmpty(t, m.Unit, name)
	}
	var operation mcpconv.ClientOperationDuration
	known := []string{
		"mcp.method.name",
		string(operation.AttrGenAIToolName("").Key), string(operation.AttrGenAIPromptName("").Key), string(operation.AttrGenAIOperationName("").Key),
		string(operation.AttrErrorType("").Key), string(operation.AttrRPCResponseStatusCode("").Key), string(operation.AttrProtocolVersion("").Key),
		string(operation.AttrNetworkTransport("").Key), string(operation.AttrNetworkProtocolName("").Key), string(operation.AttrNetworkProtocolVersion("").Key),
		string(operation.AttrServerAddress("").Key), string(operation.AttrServerPort(0).Key),
	}
	for _, p := range all[clientOperation].Data.(metricdata.Histogram[float64]).DataPoints {
		for _, a := range p.Attributes.ToSlice() {
			require.Contains(t, known, string(a.Key))
		}
	}
	require.Equal(t, "network.protocol.name=http network.protocol.version=2 network.transport=tcp server.address=a.example server.port=443",
		linkWords(t, otel.Link{Transport: "tcp", Protocol: "http", ProtocolVersion: "2", Address: "a.example", Port: 443}))
}

// linkWords is what a link adds to every attribute set.
func linkWords(t *testing.T, l otel.Link) string {
	r := newRig(t)
	r.Settled(l)(engine.Settlement{Method: "ping", Status: engine.Resolved, Elapsed: time.Second})
	for w := range r.counts(clientOperation) {
		return strings.TrimPrefix(w, "mcp.method.name=ping ")
	}
	return ""
}

// Each outcome counts once on each side, under its own attributes.
func TestOutcomes(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			r, clock := newRig(t), engine.NewManualClock()
			r.clock = clock
			c, _, entered := pair(t, r, era, serve.Options{})
			ctx, stop := context.WithCancel(t.Context())
			go func() { // only when a handler is there, whose context ends
				<-entered
				clock.Advance(time.Second)
				<-entered
				stop()
			}()
			for _, call := range []struct {
				tool string
				ctx  context.Context
				o    client.CallOptions
			}{
				{"echo", t.Context(), client.CallOptions{}}, {"echo", t.Context(), client.CallOptions{}}, {"fail", t.Context(), client.CallOptions{}},
				{"refuse", t.Context(), client.CallOptions{}}, {"panic", t.Context(), client.CallOptions{}}, {"nobody", t.Context(), client.CallOptions{}},
				{"wait", t.Context(), client.CallOptions{Timeout: time.Millisecond}}, {"wait", ctx, client.CallOptions{}},
			} {
				_, _ = c.CallTool(call.ctx, call.tool, nil, call.o)
			}
			_, err := c.GetPrompt(t.Context(), "greet", nil, client.CallOptions{})
			require.NoError(t, err)
			_, err = c.ListTools(t.Context(), nil, client.CallOptions{})
			require.NoError(t, err)
			_, err = c.Call(t.Context(), "vendor/none", nil, client.CallOptions{})
			require.Error(t, err)

			version := "mcp.protocol.version=" + string(c.Revision()) + " network.transport=pipe"
			tool := func(name string, more ...string) string {
				words := append(more, "gen_ai.operation.name=execute_tool", "mcp.method.name=tools/call", version)
				if name != "" {
					words = append(words, "gen_ai.tool.name="+name)
				}
				slices.Sort(words)
				return strings.Join(words, " ")
			}
			both := map[string]uint64{
				tool("echo"): 2, tool("fail", "error.type=tool_error"): 1,
				tool("refuse", "error.type=-32050", "rpc.response.status_code=-32050"): 1,
				"gen_ai.prompt.name=greet mcp.method.name=prompts/get " + version:      1, "mcp.method.name=tools/list " + version: 1,
				"error.type=-32601 mcp.method.name=_OTHER " + version + " rpc.response.status_code=-32601": 1,
			}
			ours := map[string]uint64{
				tool("panic", "error.type=-32603", "rpc.response.status_code=-32603"):  1,
				tool("nobody", "error.type=-32602", "rpc.response.status_code=-32602"): 1,
				tool("wait", "error.type=timeout"):                                     1, tool("wait", "error.type=cancelled"): 1,
			}
			theirs := map[string]uint64{
				tool("panic", "error.type=handler_crashed"): 1, tool("wait", "error.type=cancelled"): 2,
				tool("", "error.type=-32602", "rpc.response.status_code=-32602"): 1,
				"mcp.method.name=notifications/cancelled " + version:             2,
			}
			if era == client.EraLegacy {
				ours["mcp.method.name=initialize network.transport=pipe"] = 1 // nothing is agreed on yet
				theirs["mcp.method.name=initialize "+version] = 1
				theirs["mcp.method.name=notifications/initialized "+version] = 1
			} else {
				ours["mcp.method.name=server/discover network.transport=pipe"] = 1
				theirs["mcp.method.name=server/discover "+version] = 1
				delete(theirs, "mcp.method.name=notifications/cancelled "+version)
				theirs["mcp.method.name=notifications/cancelled network.transport=pipe"] = 2 // it says no version
			}
			for w, n := range both {
				ours[w], theirs[w] = n, n
			}
			r.eventuallyCounts(clientOperation, ours)
			r.eventuallyCounts(serverOperation, theirs)
			queued := r.counts("correlator.client.queue.duration")
			total := uint64(0)
			for _, n := range queued {
				total += n
			}
			require.EqualValues(t, 12, total)
			require.Zero(t, r.sums("correlator.calls.in_flight")["network.transport=pipe"])
		})
	}
}

// What a peer or a caller can choose freely makes a bounded number of series.
func TestCardinality(t *testing.T) {
	r := newRig(t, func(o *otel.Options) { o.MaxNames, o.MaxCodes, o.Methods = 3, 2, []string{"vendor/own"} })
	s := r.Settled(otel.Link{})
	for i := range 100 {
		s(engine.Settlement{Method: fmt.Sprint("m", i), Status: engine.Resolved})
		s(engine.Settlement{Method: "vendor/own", Status: engine.Rejected, Err: &codec.Error{Code: int64(1000 + i)}})
	}
	require.Equal(t, map[string]uint64{
		"mcp.method.name=_OTHER": 100,
		"error.type=1000 mcp.method.name=vendor/own rpc.response.status_code=1000":     1,
		"error.type=1001 mcp.method.name=vendor/own rpc.response.status_code=1001":     1,
		"error.type=_OTHER mcp.method.name=vendor/own rpc.response.status_code=_OTHER": 98,
	}, r.counts(clientOperation))

	c, _, _ := pair(t, r, client.EraModern, serve.Options{})
	for i := range 10 {
		_, err := c.CallTool(t.Context(), fmt.Sprint("tool", i), nil, client.CallOptions{})
		require.Error(t, err)
	}
	tools := map[string]uint64{}
	for w, n := range r.counts(clientOperation) {
		for _, word := range strings.Fields(w) {
			if name, ok := strings.CutPrefix(word, "gen_ai.tool.name="); ok {
				tools[name] += n
			}
		}
	}
	require.Equal(t, map[string]uint64{"tool0": 1, "tool1": 1, "tool2": 1, otel.Other: 7}, tools)
	for _, span := range r.take() {
		require.NotEqual(t, "tools/call tool7", span.Name, "span names are bounded too")
	}

	none := newRig(t, func(o *otel.Options) { o.MaxCodes, o.MaxNames = -1, -1 })
	none.Settled(otel.Link{})(engine.Settlement{Method: "ping", Status: engine.Rejected, Err: &codec.Error{Code: -32601}})
	require.Contains(t, none.counts(clientOperation), "error.type=_OTHER mcp.method.name=ping rpc.response.status_code=_OTHER")
}

// Every error of a client and of a table has a word of its own.
func TestErrorTypes(t *testing.T) {
	for want, e := range map[string]engine.Settlement{
		"":                    {Status: engine.Resolved},
		"timeout":             {Status: engine.Expired},
		"cancelled":           {Status: engine.Cancelled, Err: context.Canceled},
		"connection_closed":   {Status: engine.Failed, Err: conn.ErrClosed},
		"-32001":              {Status: engine.Rejected, Err: &codec.Error{Code: -32001}},
		"503":                 {Status: engine.Rejected, Err: &client.HTTPError{StatusCode: 503}},
		"invalid_answer":      {Status: engine.Rejected, Err: fmt.Errorf("x: %w", conn.ErrInvalidAnswer)},
		"too_many_calls":      {Status: engine.Rejected, Err: conn.ErrFull},
		"too_large":           {Status: engine.Rejected, Err: conn.ErrTooLarge},
		"unsupported_version": {Status: engine.Rejected, Err: &client.UnsupportedVersion{}},
		otel.Other:            {Status: engine.Rejected, Err: fmt.Errorf("of an unknown kind")},
	} {
		r := newRig(t)
		e.Method = mcp.MethodPing
		r.Settled(otel.Link{})(e)
		words := "mcp.method.name=ping"
		if want != "" {
			words = "error.type=" + want + " " + words
		}
		if want == "-32001" {
			words += " rpc.response.status_code=-32001"
		}
		require.Equal(t, map[string]uint64{words: 1}, r.counts(clientOperation))
	}
	r := newRig(t)
	r.Settled(otel.Link{})(engine.Settlement{Method: "ping", Status: engine.Rejected, Err: &client.HTTPError{StatusCode: 99999}})
	require.Equal(t, map[string]uint64{"error.type=_OTHER mcp.method.name=ping": 1}, r.counts(clientOperation))
}

// A table's counters: what is in flight, how calls ended, and the answers that came
// late, twice or for nothing.
func TestTable(t *testing.T) {
	r := newRig(t)
	e, err := engine.New(engine.Options[int]{Observer: r.Settled(otel.Unix)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	registration, err := r.WatchTable("upstream", e.Stats)
	require.NoError(t, err)
	begin := func() engine.Call[int] {
		c, err := e.Begin(t.Context(), engine.CallOptions[int]{Method: mcp.MethodCallTool})
		require.NoError(t, err)
		return c
	}
	answered, cancelled := begin(), begin()
	require.Equal(t, map[string]int64{"correlator.table=upstream": 2}, r.sums("correlator.calls.in_flight"))
	id := answered.ID()
	e.Resolve(id, 1)
	_, err = answered.Wait(t.Context())
	require.NoError(t, err)
	e.Resolve(id, 2)
	cancelled.Cancel(nil)
	id = cancelled.ID()
	_, err = cancelled.Wait(t.Context())
	require.Error(t, err)
	e.Resolve(id, 3)
	e.Resolve(codec.IntID(1<<40), 4)
	dropped := r.sums("correlator.answers.dropped")
	require.EqualValues(t, 1, dropped["correlator.kind=late correlator.table=upstream"], dropped)
	require.EqualValues(t, 1, dropped["correlator.kind=duplicate correlator.table=upstream"], dropped)
	require.EqualValues(t, 1, dropped["correlator.kind=unknown correlator.table=upstream"], dropped)
	settled := r.sums("correlator.calls.settled")
	require.EqualValues(t, 1, settled["correlator.outcome=resolved correlator.table=upstream"])
	require.EqualValues(t, 1, settled["correlator.outcome=cancelled correlator.table=upstream"])
	require.EqualValues(t, 0, settled["correlator.outcome=failed correlator.table=upstream"])
	require.Len(t, settled, 5)
	require.Contains(t, r.sums("correlator.calls.refused"), "correlator.table=upstream")
	require.Contains(t, r.sums("correlator.calls.reclaimed"), "correlator.table=upstream")
	require.Equal(t, map[string]uint64{
		"gen_ai.operation.name=execute_tool mcp.method.name=tools/call network.transport=unix":                      1,
		"error.type=cancelled gen_ai.operation.name=execute_tool mcp.method.name=tools/call network.transport=unix": 1,
	}, r.counts(clientOperation))
	require.NoError(t, registration.Unregister())
	require.Empty(t, r.sums("correlator.answers.dropped"))
}

// A server's counters, and what it refuses before it is a message.
func TestServerCounters(t *testing.T) {
	r := newRig(t)
	entered := make(chan struct{}, 1)
	s := server(t, r, entered, serve.Options{MaxFrame: 2000})
	_, err := r.WatchServer("main", s.Stats)
	require.NoError(t, err)
	c, err := r.Connect(t.Context(), client.Stream(s.InProcess(context.Background())), options(client.EraModern), otel.Stdio)
	require.NoError(t, err)
	finish(t, c)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := c.CallTool(ctx, "wait", nil, client.CallOptions{}); done <- err }()
	<-entered
	require.Equal(t, map[string]int64{"correlator.table=main": 1}, r.sums("correlator.server.connections"))
	require.Equal(t, map[string]int64{"correlator.table=main": 1}, r.sums("correlator.server.requests.in_flight"))
	require.EqualValues(t, 1, r.sums("correlator.server.handlers")["correlator.kind=running correlator.table=main"])
	require.Equal(t, map[string]int64{"network.transport=pipe": 1}, r.sums("correlator.calls.in_flight"))
	stop()
	require.Error(t, <-done)
	_, err = c.CallTool(t.Context(), "echo", map[string]string{"text": strings.Repeat("x", 3000)}, client.CallOptions{})
	require.Error(t, err)
	require.Eventually(t, func() bool {
		return r.sums("correlator.server.frames.rejected")["correlator.kind=frame_too_large network.transport=pipe"] == 1
	}, eventually, 5*time.Millisecond)
	require.Contains(t, r.sums("correlator.server.messages.dropped"), "correlator.kind=unmatched correlator.table=main")
}

// Sessions count when they end, and say so when they were cut off.
func TestSessions(t *testing.T) {
	r := newRig(t)
	c, s, _ := pair(t, r, client.EraLegacy, serve.Options{})
	require.Empty(t, r.counts("mcp.client.session.duration"))
	s.Close()
	<-c.Done()
	r.eventuallyCounts("mcp.client.session.duration", map[string]uint64{"error.type=connection_closed mcp.protocol.version=" + string(c.Revision()) + " network.transport=pipe": 1})
	r.eventuallyCounts("mcp.server.session.duration", map[string]uint64{"network.transport=pipe": 1})
}
