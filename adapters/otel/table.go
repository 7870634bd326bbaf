package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/serve"
)

// Settled is an Observer for an engine.Engine: each call that ends counts in
// mcp.client.operation.duration and in correlator.client.queue.duration. It knows no
// tools, and hears of no failed one: that is what Client is for.
func (t *Telemetry) Settled(l Link) func(engine.Settlement) { return t.side(false, l).settled }

// Conn returns o for a connection that is observed by Settled; what o.Observer was
// goes on. It is for connections that no client is on: Client counts the same calls.
func (t *Telemetry) Conn(o conn.Options, l Link) conn.Options {
	o.Observer = both(o.Observer, t.Settled(l))
	return o
}

func (s *side) settled(e engine.Settlement) {
	o := operation{method: e.Method, fault: faultOfSettlement(e)}
	s.record(context.Background(), s.t.clientOperation, e.Elapsed, o)
	s.queued(e)
}

// queued notes how long a call waited to be sent.
func (s *side) queued(e engine.Settlement) {
	s.record(context.Background(), s.t.queue, e.Queue, operation{method: e.Method})
}

// Call is c.Call with a span of kind CLIENT and the trace context in _meta, for a
// connection that no client is on. params must be absent or an object. A member of
// _meta that stands in params already is left alone. The duration is counted by the
// observer that Conn gave the connection.
func (t *Telemetry) Call(ctx context.Context, c *conn.Conn, method string, params []byte, o conn.CallOptions, l Link) ([]byte, error) {
	s := t.side(false, l)
	name, uri := nameOf(method, params)
	r := s.of(spanOf(method, name))
	ctx = s.begin(ctx, r, r.start)
	var id codec.ID
	if o.ID == nil {
		o.ID = &id
	}
	params, err := t.Inject(ctx, params)
	var result []byte
	if err == nil {
		result, err = c.Call(ctx, method, params, o)
	}
	done := spanOf(method, name)
	done.fault = faultOf(err)
	s.end(trace.SpanFromContext(ctx), done, facts{id: *o.ID, uri: uri, err: err})
	return result, err
}

// Inject gives params with the trace context of ctx in their _meta, for requests and
// notifications that are sent by other means. What stands in _meta already stays as
// it is. params are absent or the JSON text of an object, else the error is a
// *codec.SyntaxError. They are borrowed; the result may be the same text.
func (t *Telemetry) Inject(ctx context.Context, params []byte) ([]byte, error) {
	m := client.NewCarrier(params)
	t.inject(ctx, m)
	return m.Params()
}

func (t *Telemetry) inject(ctx context.Context, m *client.Carrier) {
	defer drop() // what was set before stays
	t.o.Propagator.Inject(ctx, (*outgoing)(m))
}

// nameOf is what a request is about: a tool or prompt, or a resource.
func nameOf(method string, params []byte) (name, uri string) {
	if spanOf(method, "x").name == "" && uriOf(method, "x") == "" {
		return "", ""
	}
	var p struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	if codec.DecodeValue(params, &p) != nil {
		return "", ""
	}
	return p.Name, uriOf(method, p.URI)
}

// watch lets collections see how many requests of the clients of this side are under
// way.
func (s *side) watch() {
	s.once.Do(func() {
		defer drop()
		g, err := s.t.meter.Int64ObservableUpDownCounter(metricInFlight, metric.WithUnit("{call}"), metric.WithDescription(inFlightText))
		if err != nil {
			return
		}
		set := metric.WithAttributeSet(attribute.NewSet(s.base...))
		_, _ = s.t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
			o.ObserveInt64(g, s.inFlight.Load(), set)
			return nil
		}, g)
	})
}

const inFlightText = "Calls that have begun and not ended."

// Registration ends what a Watch began.
type Registration = metric.Registration

// reading is one number that a snapshot has.
type reading[S any] struct {
	name, unit, text string
	gauge            bool // it also falls
	kind             attribute.KeyValue
	of               func(*S) int64
}

// WatchTable lets each collection read an engine's counters: calls in flight, settled
// by outcome, refused and reclaimed, and the answers that were dropped because they
// came late, twice or for nothing. table names the engine; read is its Stats, or for
// a connection func() engine.Stats { return c.Stats().Calls }. It walks the table,
// about a millisecond per 100,000 slots.
func (t *Telemetry) WatchTable(table string, read func() engine.Stats) (Registration, error) {
	outcome := func(s engine.Status) attribute.KeyValue { return keyOutcome.String(s.String()) }
	settled := func(s engine.Status, of func(*engine.Stats) int64) reading[engine.Stats] {
		return reading[engine.Stats]{metricSettled, "{call}", "Calls that ended, by outcome.", false, outcome(s), of}
	}
	dropped := func(kind string, of func(*engine.Stats) int64) reading[engine.Stats] {
		return reading[engine.Stats]{metricDropped, "{answer}", "Answers to no pending call: late, duplicate or unknown.", false, keyKind.String(kind), of}
	}
	return observe(t.meter, read, keyTable.String(table), []reading[engine.Stats]{
		{metricInFlight, "{call}", inFlightText, true, attribute.KeyValue{}, func(s *engine.Stats) int64 { return int64(s.Pending) }},
		settled(engine.Resolved, func(s *engine.Stats) int64 { return int64(s.Resolved) }),
		settled(engine.Rejected, func(s *engine.Stats) int64 { return int64(s.Rejected) }),
		settled(engine.Cancelled, func(s *engine.Stats) int64 { return int64(s.Cancelled) }),
		settled(engine.Expired, func(s *engine.Stats) int64 { return int64(s.Expired) }),
		settled(engine.Failed, func(s *engine.Stats) int64 { return int64(s.Failed) }),
		dropped("late", func(s *engine.Stats) int64 { return int64(s.Late) }),
		dropped("duplicate", func(s *engine.Stats) int64 { return int64(s.Duplicate) }),
		dropped("unknown", func(s *engine.Stats) int64 { return int64(s.Unknown) }),
		{metricRefused, "{call}", "Calls that were not registered, for want of room or a free id.", false, attribute.KeyValue{}, func(s *engine.Stats) int64 { return int64(s.Refused) }},
		{metricReclaimed, "{call}", "Outcomes and ids that nobody came for.", false, attribute.KeyValue{}, func(s *engine.Stats) int64 { return int64(s.Reclaimed) }},
	})
}

// WatchServer lets each collection read a server's counters: connections and requests
// that are open, handlers that run, wait or were abandoned, and messages that were
// dropped. listener names the server; read is its Stats.
func (t *Telemetry) WatchServer(listener string, read func() serve.Stats) (Registration, error) {
	handlers := func(kind string, of func(*serve.Stats) int64) reading[serve.Stats] {
		return reading[serve.Stats]{metricServerHandlers, "{handler}", "Handlers that run, that wait for a place, and that go on without one.", true, keyKind.String(kind), of}
	}
	dropped := func(kind string, of func(*serve.Stats) int64) reading[serve.Stats] {
		return reading[serve.Stats]{metricServerDropped, "{message}", "Messages that nothing could be done with.", false, keyKind.String(kind), of}
	}
	return observe(t.meter, read, keyTable.String(listener), []reading[serve.Stats]{
		{metricServerOpen, "{connection}", "Connections that are open.", true, attribute.KeyValue{}, func(s *serve.Stats) int64 { return int64(s.Open) }},
		{metricServerLive, "{request}", "Requests that are not answered, or subscribed.", true, attribute.KeyValue{}, func(s *serve.Stats) int64 { return int64(s.Live) }},
		handlers("running", func(s *serve.Stats) int64 { return int64(s.Handlers) }),
		handlers("queued", func(s *serve.Stats) int64 { return int64(s.Queued) }),
		handlers("abandoned", func(s *serve.Stats) int64 { return int64(s.Abandoned) }),
		dropped("late", func(s *serve.Stats) int64 { return int64(s.Late) }),
		dropped("duplicate", func(s *serve.Stats) int64 { return int64(s.Duplicates) }),
		dropped("unmatched", func(s *serve.Stats) int64 { return int64(s.Unmatched) }),
		dropped("unreadable", func(s *serve.Stats) int64 { return int64(s.Unreadable) }),
	})
}
