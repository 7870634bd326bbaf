package serve

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/mcp"
)

// Defaults of [HTTPOptions].
const (
	DefaultKeepAlive      = 15 * time.Second
	DefaultReadTimeout    = 30 * time.Second
	DefaultSessionIdle    = 30 * time.Minute
	DefaultMaxReplayBytes = 1 << 20
	DefaultRetry          = time.Second
)

// HTTPOptions are those of Streamable HTTP alone. The zero value is good. Zero is
// the default everywhere; what negative means each field says.
type HTTPOptions struct {
	// KeepAlive is the pause after which a comment is sent on an event stream; a
	// request that takes longer is answered by one. Zero is DefaultKeepAlive,
	// negative sends none.
	KeepAlive time.Duration
	// ReadTimeout is how long the body of a request may take to come in. Zero is
	// DefaultReadTimeout, negative none.
	ReadTimeout time.Duration

	// AllowedHosts are the values that the Host header may have beside, on a
	// loopback address, the names of that. Nil lets any host through where the
	// request did not come to a loopback address. A value without a port stands
	// for any port.
	AllowedHosts []string
	// AllowedOrigins are the values that an Origin header may have beside the
	// server's own. "*" allows all.
	AllowedOrigins []string
	// AllowAnyHost and AllowAnyOrigin turn the checks off which keep other web
	// sites from reaching this server through a browser.
	AllowAnyHost, AllowAnyOrigin bool

	// Authorize says who sent a request. An error refuses it with status 401, or
	// with that of an *HTTPError. Nil lets everybody in, as nobody.
	Authorize func(*http.Request) (mcp.Caller, error)
	// Verifier names what Authorize goes by, in the events about it.
	Verifier string

	// ModernOnly refuses the older era: no session, GET and DELETE are 405.
	ModernOnly bool
	// SessionIdle is how long a session of the older era is kept without a
	// request or an open stream. Zero is DefaultSessionIdle, negative for ever.
	SessionIdle time.Duration
	// MaxReplayBytes bounds the events that a session of the older era keeps for
	// clients that come back with Last-Event-ID. Zero is DefaultMaxReplayBytes,
	// negative keeps none.
	MaxReplayBytes int
	// Detach takes the connections of event streams that a GET opens from net/http
	// (http.Hijacker): an idle client then costs a third. Nothing between net/http and
	// this handler may change the bodies of responses. An http.Server does not close
	// such streams: they end with their sessions; see HTTP.EndDetached. In HTTP/2 they
	// stay where they are.
	Detach bool
	// Retry is how long a client of the older era is told to wait before it
	// comes back. Zero is DefaultRetry.
	Retry time.Duration
}

// HTTPError is an error of Authorize with a status of its own.
type HTTPError struct {
	// Status is the status, 401 or 403 for example.
	Status int
	// Challenge is the value of WWW-Authenticate; "" leaves it out.
	Challenge string
	// Text is for the client to read.
	Text string
}

// Error is the status and the text.
func (e *HTTPError) Error() string { return http.StatusText(e.Status) + ": " + e.Text }

// HTTP serves Streamable HTTP at one endpoint, both eras beside each other. Which
// one a request belongs to is told by its body: initialize, and what carries the
// id of a session, is the older era.
type HTTP struct {
	front   *front
	backend Backend
	o       HTTPOptions
	live    atomic.Int64 // requests of the modern era
	// reading is how many bodies are on their way in, which are bounded like the
	// requests that they bring.
	reading atomic.Int64

	mu       sync.Mutex // protects the fields below
	sessions map[string]*session
	detached map[*detached]struct{}
}

// HTTP makes the handler of an endpoint. Server.Shutdown ends what it serves;
// shut the http.Server down after that. Its error is an *OptionError.
func (s *Server) HTTP(o HTTPOptions) (*HTTP, error) { return newHTTP(s, &s.front, o) }

// NewHTTP makes the handler of an endpoint before a backend. Of limits, those hold
// which are about what comes in and goes out: MaxLive, MaxFrame, MaxDepth,
// WriteBuffer, WriteTimeout, MaxConnections; and Listener, Observer, Logger and
// OnStray are told what the front end sees. All else in it is the backend's
// business. Ending the backend's connections ends what the handler serves. The error
// is an *OptionError.
func NewHTTP(b Backend, o HTTPOptions, limits Options) (*HTTP, error) {
	limits, err := limits.withDefaults()
	if err != nil {
		return nil, err
	}
	return newHTTP(b, &front{o: limits}, o)
}

func newHTTP(b Backend, f *front, o HTTPOptions) (*HTTP, error) {
	if o.Retry < 0 {
		return nil, &OptionError{Field: "Retry", Value: int64(o.Retry)}
	}
	for _, d := range []struct {
		value *time.Duration
		zero  time.Duration
	}{
		{&o.KeepAlive, DefaultKeepAlive}, {&o.ReadTimeout, DefaultReadTimeout},
		{&o.SessionIdle, DefaultSessionIdle}, {&o.Retry, DefaultRetry},
	} {
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	if o.MaxReplayBytes == 0 {
		o.MaxReplayBytes = DefaultMaxReplayBytes
	}
	o.MaxReplayBytes = max(o.MaxReplayBytes, 0)
	return &HTTP{front: f, backend: b, o: o, sessions: make(map[string]*session), detached: make(map[*detached]struct{})}, nil
}

// ServeHTTP serves one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Whatever is answered, net/http reads what is left of the body before it sends
	// the answer.
	h.bodyWithin(w, h.o.ReadTimeout)
	caller, ok := h.Admit(w, r)
	if !ok {
		return
	}
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r, caller)
	case h.o.ModernOnly || r.Header.Get(headerSession) == "":
		w.Header().Set("Allow", http.MethodPost)
		h.reject(w, refuse(http.StatusMethodNotAllowed, "method", "only POST is served here"))
	case r.Method == http.MethodGet:
		h.get(w, r, caller)
	case r.Method == http.MethodDelete:
		h.delete(w, r, caller)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		h.reject(w, refuse(http.StatusMethodNotAllowed, "method", "only GET, POST and DELETE are served here"))
	}
}

// Admit checks a request as ServeHTTP does before it looks at what it brings: its
// Host, its Origin, who sent it. When that is refused it is answered, and ok is
// false. It is for handlers beside this one, which are to be as careful: one that
// makes a WebSocket of a request, for example.
func (h *HTTP) Admit(w http.ResponseWriter, r *http.Request) (caller mcp.Caller, ok bool) {
	e := h.guard(r)
	if e == nil {
		caller, e = h.authorize(r)
	}
	if e != nil {
		h.reject(w, e)
		return mcp.Caller{}, false
	}
	return caller, true
}

// bodyWithin bounds how long what r brings may still take; zero and negative let it
// take any time. Not every ResponseWriter can: then the server's own limits must do.
func (h *HTTP) bodyWithin(w http.ResponseWriter, d time.Duration) {
	if h.o.ReadTimeout < 0 {
		return // nobody touches the server's own
	}
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetReadDeadline(until)
}

// The headers of MCP.
const (
	headerVersion     = "Mcp-Protocol-Version"
	headerMethod      = "Mcp-Method"
	headerName        = "Mcp-Name"
	headerParam       = "Mcp-Param-"
	headerSession     = "Mcp-Session-Id"
	headerLastEvent   = "Last-Event-Id"
	headerCorrelation = "X-Correlation-Id"
)

// authorize asks who sent r.
func (h *HTTP) authorize(r *http.Request) (mcp.Caller, *rejection) {
	if h.o.Authorize == nil {
		return mcp.Caller{Value: r}, nil
	}
	caller, err := h.o.Authorize(r)
	e := Event{Kind: AuthorizationDecided, Verifier: h.o.Verifier, Reason: "allowed"}
	if err != nil {
		e.Reason = "denied"
	}
	h.front.emit(e)
	if err != nil {
		return caller, denied(err)
	}
	return caller, nil
}
