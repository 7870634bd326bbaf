package status

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
)

// bounds are the boundaries that the conventions advise for durations, in seconds, and
// below them those of a machine's own calls.
var bounds = []float64{0.0001, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// other stands for every value that is not one of a bounded set.
const other = "_OTHER"

// seriesMost is how many combinations of method, tool, upstream and error are told
// apart. Clients choose names of tools, so beyond it they are other.
const seriesMost = 1024

// key is what calls are told apart by.
type key struct{ upstream, method, tool, failure, transport string }

func keyOf(e *gateway.Event) key {
	k := key{e.Upstream, e.Method, e.Tool, "", transportOf(e.Peer.Transport)}
	if _, known := slices.BinarySearch(methods, k.method); !known {
		k.method = other
	}
	if failed(e) {
		k.failure = errorType(e)
	}
	return k
}

// methods are those of MCP that clients call, sorted.
var methods = []string{
	"completion/complete", "initialize", "logging/setLevel", "ping", "prompts/get", "prompts/list", "resources/list", "resources/read",
	"resources/subscribe", "resources/templates/list", "resources/unsubscribe", "server/discover", "subscriptions/listen",
	"tasks/cancel", "tasks/get", "tasks/list", "tasks/result", "tasks/update", "tools/call", "tools/list",
}

// transportOf is network.transport of the conventions.
func transportOf(transport string) string {
	switch transport {
	case "stdio":
		return "pipe"
	case "http", "websocket":
		return "tcp"
	}
	return transport
}

// failed reports whether a call counts as an error.
func failed(e *gateway.Event) bool {
	return e.Outcome != gateway.Answered || errors.Is(e.Err, gateway.ErrTool)
}

// errorType is error.type of the conventions: the code of a JSON-RPC error of the
// server's, tool_error, or what became of the call here.
func errorType(e *gateway.Event) string {
	switch {
	case errors.Is(e.Err, gateway.ErrTool):
		return "tool_error"
	case e.Outcome == gateway.Lost && e.Cause != "":
		return string(e.Cause)
	case e.Outcome == gateway.Lost:
		return "connection_closed"
	case e.Outcome == gateway.Failed:
		if answer, ok := errors.AsType[*codec.Error](e.Err); ok {
			return code(answer.Code)
		}
		return other
	}
	return string(e.Outcome)
}

// code bounds what servers choose.
func code(n int64) string {
	if n >= -32768 && n <= -32000 {
		return strconv.FormatInt(n, 10)
	}
	return other
}

// series are the histograms, each made once.
type series struct {
	set *metrics.Set
	mu  sync.RWMutex // guards all
	all map[key]*histograms
}

type histograms struct {
	server, client, queue *metrics.PrometheusHistogram
}

func (s *series) of(k key) *histograms {
	s.mu.RLock()
	h := s.all[k]
	s.mu.RUnlock()
	if h != nil {
		return h
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[key]*histograms)
	}
	if len(s.all) >= seriesMost && k.tool != "" {
		k.tool = other
	}
	if h = s.all[k]; h == nil {
		h = &histograms{server: s.set.GetOrCreatePrometheusHistogramExt(k.name("mcp_server_operation_duration_seconds", true), bounds)}
		if k.upstream != "" { // else the gateway answered
			h.client = s.set.GetOrCreatePrometheusHistogramExt(k.name("mcp_client_operation_duration_seconds", false), bounds)
			h.queue = s.set.GetOrCreatePrometheusHistogramExt(fmt.Sprintf(`correlator_gateway_queue_duration_seconds{correlator_upstream=%s}`, quote(k.upstream)), bounds)
		}
		s.all[k] = h
	}
	return h
}

// name is a series: the attributes of the conventions, with underscores.
func (k key) name(metric string, server bool) string {
	labels := []string{"correlator_upstream=" + quote(k.upstream), "mcp_method_name=" + quote(k.method)}
	switch {
	case k.tool != "" && k.method == "prompts/get":
		labels = append(labels, "gen_ai_prompt_name="+quote(k.tool))
	case k.tool != "":
		labels = append(labels, "gen_ai_tool_name="+quote(k.tool), `gen_ai_operation_name="execute_tool"`)
	}
	if k.failure != "" {
		labels = append(labels, "error_type="+quote(k.failure))
	}
	if server && k.transport != "" {
		labels = append(labels, "network_transport="+quote(k.transport))
	}
	return metric + "{" + strings.Join(labels, ",") + "}"
}

// quote makes the value of a label.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "�")) + `"`
}

func (s *series) call(e *gateway.Event) {
	h := s.of(keyOf(e))
	h.server.Update((e.Waited + e.Took).Seconds())
	if h.client != nil && e.Upstream != "" {
		h.queue.Update(e.Waited.Seconds())
		if e.Sent {
			h.client.Update(e.Took.Seconds())
		}
	}
}

// writeMetrics writes everything in Prometheus's text format.
func (b *Board) writeMetrics(w io.Writer) {
	b.series.set.WritePrometheus(w)
	g := b.gateway.Load()
	if g == nil {
		return
	}
	s := g.Stats()
	put := func(kind, name string, values ...sample) {
		_, _ = fmt.Fprintf(w, "# TYPE %s %s\n", name, kind)
		for _, v := range values {
			_, _ = fmt.Fprintf(w, "%s%s %d\n", name, v.labels, v.value)
		}
	}
	var calls, drops []sample
	for o, n := range outcomes(&s) {
		calls = append(calls, sample{"{correlator_outcome=" + quote(string(o)) + "}", n})
	}
	for r, n := range s.Dropped {
		drops = append(drops, sample{"{correlator_kind=" + quote(r.String()) + "}", n})
	}
	put("counter", "correlator_gateway_requests_total", sample{"", s.Requests})
	put("counter", "correlator_gateway_calls_total", sorted(calls)...)
	put("counter", "correlator_gateway_messages_dropped_total", sorted(drops)...)
	put("counter", "correlator_gateway_upstreams_opened_total", sample{"", s.Opened})
	put("counter", "correlator_gateway_upstreams_failed_total", sample{"", s.OpenFailed})
	put("counter", "correlator_gateway_panics_total", sample{"", s.Panics})
	put("counter", "correlator_gateway_log_dropped_total", sample{"", b.lines.dropped.Load()})
	put("counter", "correlator_gateway_resource_conflicts_total", sample{"", s.Conflicts})
	if b.o.Guard != nil {
		s := b.o.Guard()
		put("counter", "correlator_gateway_guard_restarts_total", sample{"", s.Restarts})
		put("counter", "correlator_gateway_guard_overdue_total", sample{"", s.Overdue})
		put("gauge", "correlator_gateway_guard_children", sample{"", uint64(s.Watched)})
	}
	put("gauge", "correlator_gateway_calls_in_flight", sample{"", uint64(s.InFlight)})
	put("gauge", "correlator_gateway_clients", sample{"", uint64(s.Sessions)})
	var up, in, waiting []sample
	for _, u := range g.Upstreams() {
		labels := "{correlator_upstream=" + quote(u.Name) + "}"
		up = append(up, sample{labels, uint64(u.Up)})
		in = append(in, sample{labels, uint64(u.InFlight)})
		waiting = append(waiting, sample{labels, uint64(u.Waiting)})
	}
	put("gauge", "correlator_gateway_upstream_ways", up...)
	put("gauge", "correlator_gateway_upstream_calls_in_flight", in...)
	put("gauge", "correlator_gateway_upstream_calls_queued", waiting...)
}

type sample struct {
	labels string
	value  uint64
}

func sorted(s []sample) []sample {
	slices.SortFunc(s, func(a, b sample) int { return strings.Compare(a.labels, b.labels) })
	return s
}
