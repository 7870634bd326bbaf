package otel

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v3"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/mcp"
)

// words is a bounded set: the first limit words stand for themselves, all others are
// Other.
type words struct {
	limit int
	mu    sync.RWMutex // protects known
	known map[string]struct{}
}

func (w *words) admit(word string) string {
	w.mu.RLock()
	_, ok := w.known[word]
	full := len(w.known) >= w.limit
	w.mu.RUnlock()
	switch {
	case ok:
		return word
	case full:
		return Other
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.known[word]; !ok && len(w.known) >= w.limit {
		return Other
	}
	if w.known == nil {
		w.known = make(map[string]struct{})
	}
	w.known[word] = struct{}{}
	return word
}

// operation is what attributes are made of. Its words are as they came; the series
// of one that is not bounded is found by its folded form.
type operation struct {
	method, name string // name is that of a tool or prompt
	revision     mcp.Revision
	fault        fault
}

// series is the attributes of one combination, ready to be recorded.
type series struct {
	record []metric.RecordOption
	// name and start are of the spans of that combination, for which fault is none.
	name  string
	start []trace.SpanStartOption
	// end is what a span learns at its end: error.type, rpc.response.status_code and
	// mcp.protocol.version.
	end []attribute.KeyValue
}

// side is one of the two sides of a link.
type side struct {
	t        *Telemetry
	server   bool
	kind     trace.SpanKind
	base     []attribute.KeyValue
	names    words
	codes    words
	inFlight atomic.Int64
	once     sync.Once                        // of watch
	known    *xsync.MapOf[operation, *series] // folded operations alone, so that it is bounded
}

func newSide(t *Telemetry, server bool, l Link) *side {
	s := &side{t: t, server: server, kind: trace.SpanKindClient, base: l.attributes(), known: xsync.NewMapOf[operation, *series]()}
	if server {
		s.kind = trace.SpanKindServer
	}
	s.names.limit, s.codes.limit = t.o.MaxNames, t.o.MaxCodes
	return s
}

// of finds the series of an operation. It allocates for one that is new, and for one
// with a code or a name beyond the bounds.
func (s *side) of(o operation) *series {
	if found, ok := s.known.Load(o); ok {
		return found
	}
	folded := s.fold(o)
	if found, ok := s.known.Load(folded); ok {
		return found
	}
	made, _ := s.known.LoadOrStore(folded, s.make(folded))
	return made
}

// revisions are those that a peer can have spoken.
var revisions = func() map[mcp.Revision]bool {
	all := make(map[mcp.Revision]bool)
	for _, r := range mcp.Revisions() {
		all[r] = true
	}
	return all
}()

// otherCode is the code of every error beyond the bounds: no JSON-RPC code is that
// far out, and if one were it would be among the others.
const otherCode = 1 << 62

// fold puts Other in the place of each word that is beyond its bounds.
func (s *side) fold(o operation) operation {
	if known, ok := s.t.methods[o.method]; ok {
		o.method = known
	} else {
		o.method = Other
	}
	if o.name != "" {
		o.name = s.names.admit(o.name)
	}
	if o.revision != "" && !revisions[o.revision] {
		o.revision = Other
	}
	switch o.fault.kind {
	case faultPeer:
		if o.fault.code == otherCode || s.codes.admit(strconv.FormatInt(o.fault.code, 10)) == Other {
			o.fault.code = otherCode
		}
	case faultHTTP:
		if o.fault.code < 100 || o.fault.code > 599 {
			o.fault.code = otherCode
		}
	default:
		o.fault.code = 0
	}
	return o
}

// make makes the series of a folded operation.
func (s *side) make(o operation) *series {
	attrs := append(s.base[:len(s.base):len(s.base)], keyMethod.String(o.method))
	name := o.method
	switch {
	case o.method == mcp.MethodCallTool:
		attrs = append(attrs, keyOperation.String(executeTool))
		if o.name != "" {
			attrs = append(attrs, keyTool.String(o.name))
		}
	case o.method == mcp.MethodGetPrompt && o.name != "":
		attrs = append(attrs, keyPrompt.String(o.name))
	}
	if o.name != "" {
		name += " " + o.name
	}
	made := &series{name: name}
	made.start = []trace.SpanStartOption{trace.WithSpanKind(s.kind), trace.WithAttributes(attrs...)}
	if o.revision != "" {
		made.end = append(made.end, keyRevision.String(string(o.revision)))
	}
	if o.fault.kind != faultNone {
		made.end = append(made.end, keyError.String(o.fault.errorType()))
	}
	if o.fault.kind == faultPeer {
		made.end = append(made.end, keyStatus.String(o.fault.errorType()))
	}
	all := append(attrs[:len(attrs):len(attrs)], made.end...)
	made.record = []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(all...))}
	return made
}

// record notes the duration of an operation.
func (s *side) record(ctx context.Context, h metric.Float64Histogram, d time.Duration, o operation) {
	defer drop()
	h.Record(ctx, d.Seconds(), s.of(o).record...)
}

// sessionEnded notes the duration of a session.
func (s *side) sessionEnded(h metric.Float64Histogram, d time.Duration, revision mcp.Revision, f fault) {
	defer drop()
	attrs := s.base[:len(s.base):len(s.base)]
	if revision != "" {
		attrs = append(attrs, keyRevision.String(string(revision)))
	}
	if f.kind != faultNone {
		attrs = append(attrs, keyError.String(f.errorType()))
	}
	h.Record(context.Background(), d.Seconds(), metric.WithAttributes(attrs...))
}

// drop ends a panic of a provider's.
func drop() { _ = recover() }
