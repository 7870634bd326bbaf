package prom

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// ContentType is the type of what Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Exporter writes the figures of one run. It is safe for concurrent use.
type Exporter struct {
	source *report.Live
	set    *metrics.Set

	mu   sync.Mutex // protects the fields below
	seen int        // rows taken in
	sums sums
	// counters are set from sums.
	counters []counter
	// service and response are cumulative, as everything that Prometheus scrapes.
	service, response *histogram
}

// counter is one of the library's and what it is set to.
type counter struct {
	*metrics.Counter
	of func(*sums) int64
}

// sums are counted from the rows, so that a scrape sees one moment.
type sums struct {
	tally.Ends
	sent, behind, dropped, late int64
	inFlight                    int
}

// NewExporter returns the exporter of source. Its rows must keep their histograms,
// else the histograms stay empty.
func NewExporter(source *report.Live) *Exporter {
	metrics.ExposeMetadata(true) // of the process, which exports nothing else
	config := source.Document().Config
	base := []label{{"mcp_method_name", config.Method}, {"network_transport", transportOf(config.Target)}}
	if config.MCP != "" {
		base = append(base, label{"mcp_protocol_version", config.MCP})
	}
	e := &Exporter{
		source: source, set: metrics.NewSet(),
		service:  newHistogram("mcp_client_operation_duration_seconds", base, conventional),
		response: newHistogram("loadgen_response_duration_seconds", base, fine),
	}
	e.register(base)
	e.set.RegisterMetricsWriter(func(w io.Writer) {
		e.service.write(w)
		e.response.write(w)
	})
	return e
}

// register names everything but the histograms. The callbacks run under e.mu, in
// Write.
func (e *Exporter) register(base []label) {
	count := func(name string, labels []label, of func(*sums) int64) {
		e.counters = append(e.counters, counter{e.set.NewCounter(series(name, labels)), of})
	}
	for _, outcome := range []struct {
		name string
		of   func(*sums) int64
	}{
		{"ok", func(s *sums) int64 { return s.OK }}, {"error", func(s *sums) int64 { return s.Error }},
		{"timeout", func(s *sums) int64 { return s.Timeout }}, {"cancelled", func(s *sums) int64 { return s.Cancelled }},
		{"lost", func(s *sums) int64 { return s.Lost }},
	} {
		count("loadgen_calls_total", append(base[:len(base):len(base)], label{"outcome", outcome.name}), outcome.of)
	}
	count("loadgen_sent_total", base, func(s *sums) int64 { return s.sent })
	count("loadgen_behind_total", base, func(s *sums) int64 { return s.behind })
	count("loadgen_dropped_total", base, func(s *sums) int64 { return s.dropped })
	count("loadgen_late_answers_total", base, func(s *sums) int64 { return s.late })
	e.set.NewGauge(series("loadgen_in_flight", base), func() float64 { return float64(e.sums.inFlight) })
	e.set.NewGauge("loadgen_rate_factor", func() float64 { return e.source.Document().Steering.Factor })
	e.set.NewGauge("loadgen_paused", func() float64 { return truth(e.source.Document().Steering.Paused) })
	e.set.NewGauge("loadgen_running", func() float64 { return truth(e.source.Document().Running) })
	d := e.source.Document()
	e.set.NewGauge(series("loadgen_info", []label{{"version", d.Tool.Version}, {"go_version", d.Tool.Go}, {"target", d.Config.Target}, {"loop", d.Config.Loop}}),
		func() float64 { return 1 })
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Write takes in what came since the last call and writes everything. An error is
// w's.
func (e *Exporter) Write(w io.Writer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	rows := e.source.Rows()
	for i := e.seen; i < len(rows); i++ {
		e.take(&rows[i])
	}
	e.seen = len(rows)
	for _, c := range e.counters {
		c.Set(uint64(c.of(&e.sums)))
	}
	var text bytes.Buffer
	e.set.WritePrometheus(&text)
	_, err := w.Write(explained(text.Bytes()))
	return err
}

func (e *Exporter) take(row *tally.Row) {
	s := &e.sums
	s.Ends = s.Add(row.Ends)
	s.sent, s.behind, s.dropped, s.late = s.sent+row.Sent, s.behind+row.Behind, s.dropped+row.Dropped, s.late+row.Late
	s.inFlight = row.InFlight
	e.service.add(row.Kept.Service)
	e.response.add(row.Kept.Response)
}

// transportOf is the value of network.transport for a target.
func transportOf(target string) string {
	kind, _, _ := strings.Cut(target, ":")
	switch kind {
	case "unix":
		return "unix"
	case "tcp", "ws", "wss", "http", "https":
		return "tcp"
	}
	return "pipe" // stdio, and the pipe within the process
}
