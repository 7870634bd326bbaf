package status

import (
	"bytes"
	"embed"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/auth"
)

//go:embed page.html page.css page.js
var page embed.FS

func (b *Board) routes() {
	for path, file := range map[string]struct{ name, kind string }{
		"GET /{$}":        {"page.html", "text/html; charset=utf-8"},
		"GET /status.css": {"page.css", "text/css; charset=utf-8"},
		"GET /status.js":  {"page.js", "text/javascript; charset=utf-8"},
	} {
		text, err := page.ReadFile(file.name)
		if err != nil {
			panic("status: " + err.Error()) // it is embedded
		}
		b.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", file.kind)
			_, _ = w.Write(text)
		})
	}
	b.mux.HandleFunc("GET /healthz", b.Health)
	b.mux.HandleFunc("GET /readyz", b.Ready)
	b.mux.HandleFunc("GET /metrics", b.looking(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		b.writeMetrics(w)
	}))
	b.mux.HandleFunc("GET /status/snapshot", b.looking(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b.draw(0))
	}))
	b.mux.HandleFunc("GET /status/events", b.looking(b.events))
	b.mux.HandleFunc("POST /status/cancel", b.cancel)
}

// ServeHTTP serves the page, /metrics, /healthz and /readyz. The page itself holds
// nothing; what it shows may be seen without the token from this machine alone, under
// one of its own names, so that no other site can look through a browser.
func (b *Board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	b.mux.ServeHTTP(w, r)
}

// looking lets those in who may see.
func (b *Board) looking(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r) && !b.allows(w, r) {
			return
		}
		next(w, r)
	}
}

// allows reports whether r brought the token, and refuses it otherwise.
func (b *Board) allows(w http.ResponseWriter, r *http.Request) bool {
	if _, err := b.operator.Load().verifier.Verify(r.Context(), r); err != nil {
		w.Header().Set("WWW-Authenticate", `Bearer realm="status"`)
		say(w, http.StatusUnauthorized, "the status token is wanted")
		return false
	}
	return true
}

// isLocal reports whether a request came to a loopback address, under its name.
func isLocal(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && loopback(at.String()) && loopback(r.Host)
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// drawing is a snapshot as it is sent; those who look at the same time share it.
type drawing struct {
	at   time.Time
	text []byte
}

// draw draws, or gives what was drawn so short a time ago.
func (b *Board) draw(recently time.Duration) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.last.text != nil && now.Sub(b.last.at) < recently {
		return b.last.text
	}
	text, err := json.Marshal(b.Snapshot())
	if err != nil {
		panic("status: " + err.Error()) // texts and numbers
	}
	b.last = drawing{now, text}
	return text
}

// readersMost is how many may look on at a time, writeLimit how long one may take to
// read a drawing.
const (
	readersMost = 64
	writeLimit  = 10 * time.Second
)

func (b *Board) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOver || b.readers >= readersMost {
		return false
	}
	b.readers++
	return true
}

func (b *Board) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers--
}

// events sends a drawing again and again, as server-sent events.
func (b *Board) events(w http.ResponseWriter, r *http.Request) {
	if !b.enter() {
		w.Header().Set("Retry-After", "1")
		say(w, http.StatusServiceUnavailable, "too many look on, or it is over")
		return
	}
	defer b.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	tick := time.NewTicker(b.o.Pause)
	defer tick.Stop()
	var event bytes.Buffer
	for {
		event.Reset()
		event.WriteString("data: ")
		event.Write(b.draw(b.o.Pause / 2))
		event.WriteString("\n\n")
		_ = control.SetWriteDeadline(time.Now().Add(writeLimit)) // not every writer has one
		if _, err := w.Write(event.Bytes()); err != nil {
			return
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-b.closed:
			return
		}
	}
}

// cancelMost is the longest body of a cancel.
const cancelMost = 4 << 10

// cancel ends a call in the operator's name.
func (b *Board) cancel(w http.ResponseWriter, r *http.Request) {
	if !b.allows(w, r) {
		return
	}
	var body struct {
		Client uint64 `json:"client"`
		ID     string `json:"id"` // the JSON text
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, cancelMost))
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	if err != nil {
		say(w, http.StatusBadRequest, `want {"client":1,"id":"7"}`)
		return
	}
	id, err := codec.ParseID([]byte(body.ID), codec.JSONRPC)
	g := b.gateway.Load()
	if err != nil || g == nil || !g.CancelCall(body.Client, id) {
		say(w, http.StatusNotFound, "no such call is in flight")
		return
	}
	b.log.Info("an operator cancelled a call", "client", body.Client, "id", auth.Redact(body.ID), "from", r.RemoteAddr)
	say(w, http.StatusOK, "cancelled")
}
