package status

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/guard"
)

// Options of a Board. The zero value will do.
type Options struct {
	// Log gets what happens; nil drops it. LogCalls adds a line for each call. Its handler
	// is called by a goroutine of the board's, so that it may take its time: 8192 lines wait
	// for it, and what comes then is dropped and counted.
	Log      *slog.Logger
	LogCalls bool
	// Token is what the cancel button needs, and who looks from another machine: a
	// secret, or the hash that auth.HashToken makes of one. "" makes one up.
	Token string
	// Export sends traces and metrics by OpenTelemetry.
	Export Export
	// Guard counts what the guard of the children did; nil without one.
	Guard func() guard.Stats
	// Pause is how often the page is drawn. Zero is DefaultPause.
	Pause time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// DefaultPause is how often the page is drawn.
const DefaultPause = time.Second

// Board sees what a gateway does and shows it. Give Observe to gateway.Options, then
// the gateway to Watch. Its methods are safe for concurrent use.
type Board struct {
	o        Options
	operator atomic.Pointer[operator]
	log      *slog.Logger
	lines    *records // on their way to the log
	logCalls atomic.Bool
	gateway  atomic.Pointer[gateway.Gateway]
	series   series
	meters   meters
	export   *exporter // nil without one
	mux      http.ServeMux

	mu      sync.Mutex // guards the fields below
	readers int
	closed  chan struct{}
	isOver  bool
	last    drawing
}

// New makes a board. The error says which option is wrong.
func New(o Options) (*Board, error) {
	b := &Board{o: o, log: o.Log, closed: make(chan struct{}), series: series{set: metrics.NewSet()}}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	slow := newLater(b.log.Handler())
	b.log, b.lines = slog.New(slow), slow.queue
	if b.o.Pause <= 0 {
		b.o.Pause = DefaultPause
	}
	if b.o.Now == nil {
		b.o.Now = time.Now
	}
	b.logCalls.Store(o.LogCalls)
	b.meters.now = b.o.Now
	err := b.SetToken(o.Token)
	if err != nil {
		return nil, err
	}
	if b.export, err = newExporter(o.Export, b.log); err != nil {
		return nil, err
	}
	b.routes()
	return b, nil
}

// operator is who may cancel calls, and look on from other machines.
type operator struct {
	given, token string // as it was set; "" if only its hash is known
	verifier     *auth.Tokens
}

// SetToken replaces Options.Token, for requests from now on. The one that was made up
// stays where token is "" again.
func (b *Board) SetToken(token string) error {
	if old := b.operator.Load(); old != nil && old.given == token {
		return nil
	}
	o := &operator{given: token}
	hash := token
	if !isHash(hash) {
		if o.token = token; o.token == "" {
			o.token, _ = auth.NewToken()
		}
		hash = auth.HashToken(o.token)
	}
	var err error
	if o.verifier, err = auth.NewTokens([]auth.Token{{Name: "operator", Hash: hash}}); err != nil {
		return err
	}
	b.operator.Store(o)
	return nil
}

func isHash(token string) bool {
	const scheme = "sha256:"
	return len(token) > len(scheme) && token[:len(scheme)] == scheme
}

// Watch says which gateway is shown. It is called once, before any request.
func (b *Board) Watch(g *gateway.Gateway) { b.gateway.Store(g) }

// Token is what the cancel button needs; "" if only its hash is known.
func (b *Board) Token() string { return b.operator.Load().token }

// Tracer is for gateway.Options.Tracer; nil without an Export.
func (b *Board) Tracer() gateway.Tracer {
	if b.export == nil {
		return nil
	}
	return b.export
}

// LogCalls turns the line of each call on and off.
func (b *Board) LogCalls(on bool) { b.logCalls.Store(on) }

// Close ends the event streams of those who look on. The board goes on to count.
func (b *Board) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isOver {
		b.isOver = true
		close(b.closed)
	}
	return nil
}

// Flush sends what telemetry has gathered and ends it, and waits up to 5 s for the log.
func (b *Board) Flush() error {
	b.lines.flush(flushLimit)
	if b.export == nil {
		return nil
	}
	return b.export.close()
}

// Observe is for gateway.Options.Observer. It does not block.
func (b *Board) Observe(e gateway.Event) {
	switch e.Kind {
	case gateway.CallEnded:
		b.meters.of(e.Upstream).call(&e)
		b.series.call(&e)
		if b.export != nil {
			b.export.call(&e)
		}
		if b.logCalls.Load() {
			b.logCall(&e)
		}
	case gateway.UpstreamUp:
		b.meters.of(e.Upstream).up()
		b.log.Info("upstream is up", "upstream", e.Upstream)
	case gateway.UpstreamDown:
		b.meters.of(e.Upstream).down(e.Err)
		b.log.Warn("upstream is down", "upstream", e.Upstream, "error", auth.Redact(text(e.Err)))
	case gateway.UpstreamEnded:
		b.log.Info("upstream was ended", "upstream", e.Upstream, "reason", text(e.Err))
	case gateway.ResourcesConflict:
		b.log.Warn("two upstreams have one resource; uriPrefix lets both be reached", "error", auth.Redact(text(e.Err)))
	case gateway.Dropped:
		if e.Upstream != "" {
			b.meters.of(e.Upstream).dropped(e.Reason)
		}
		b.log.Debug("a message was dropped", "reason", e.Reason.String(), "client", e.Client, "upstream", e.Upstream)
	case gateway.ClientJoined:
		b.log.Debug("a client came", "client", e.Client, "transport", e.Peer.Transport, "address", e.Peer.Address, "identity", e.Peer.Identity)
	case gateway.ClientLeft:
		b.log.Debug("a client left", "client", e.Client, "error", text(e.Err))
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Health answers 200 for as long as the process can.
func (b *Board) Health(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") }

// Ready answers 200 while calls are taken, and 503 while the gateway drains or before
// there is one.
func (b *Board) Ready(w http.ResponseWriter, _ *http.Request) {
	switch g := b.gateway.Load(); {
	case g == nil:
		say(w, http.StatusServiceUnavailable, "starting")
	case g.Draining():
		say(w, http.StatusServiceUnavailable, "draining")
	default:
		say(w, http.StatusOK, "ready")
	}
}

func say(w http.ResponseWriter, code int, what string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(what + "\n")) // to whoever still reads
}
