package downstream

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/link"
)

// DefaultBodyTimeout is how long the body of a plain request may take to come in.
const DefaultBodyTimeout = 30 * time.Second

// plain serves JSON-RPC over HTTP, without MCP: the body of a POST is a message or a
// batch, and the response is its answer, once. There is no session: each request is a
// client of its own.
//
//	request, batch with one   200, the answers
//	notifications             204
//	no message                400, an error whose id is null where none could be read
type plain struct {
	bound int64

	mu     sync.Mutex // guards the fields below
	who    link.Peer
	answer []byte
	over   error
	done   chan struct{} // closed when answer or over is set
}

var _ link.Client = (*plain)(nil)

// plainMedia are the types of body that plain JSON-RPC is in use with.
var plainMedia = map[string]bool{"application/json": true, "application/json-rpc": true, "application/jsonrequest": true}

// servePlain serves one HTTP request.
func (e *Endpoint) servePlain(w http.ResponseWriter, r *http.Request) {
	caller, ok := e.http.Admit(w, r)
	if !ok {
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refusePlain(w, http.StatusMethodNotAllowed, codec.CodeInvalidRequest, "only POST is served here")
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || !plainMedia[media] {
		refusePlain(w, http.StatusUnsupportedMediaType, codec.CodeInvalidRequest, "the body must be application/json")
		return
	}
	if n := e.live.Add(1); n > int64(e.o.Limits.MaxLive) {
		e.live.Add(-1)
		w.Header().Set("Retry-After", "1")
		refusePlain(w, http.StatusServiceUnavailable, gateway.CodeBusy, "too many requests are in flight")
		return
	}
	defer e.live.Add(-1)
	body, status := e.plainBody(w, r)
	if status != 0 {
		refusePlain(w, status, codec.CodeInvalidRequest, "the body is too large, or could not be read")
		return
	}
	p := &plain{who: peerOf(caller, "http"), bound: int64(e.o.Limits.WriteBuffer), done: make(chan struct{})}
	p.who.Alone = true
	p.serve(e, w, r, body)
}

// plainBody reads the body; status is set if it cannot be served.
func (e *Endpoint) plainBody(w http.ResponseWriter, r *http.Request) (body []byte, status int) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(DefaultBodyTimeout)) // else the server's own limits must do
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(e.o.Limits.MaxFrame)))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, http.StatusRequestEntityTooLarge
	} else if err != nil {
		return nil, http.StatusBadRequest
	}
	return body, 0
}

func (p *plain) serve(e *Endpoint, w http.ResponseWriter, r *http.Request, body []byte) {
	m, err := codec.Parse(body, codec.ScanOptions{MaxDepth: e.o.Limits.MaxDepth})
	status, asks := http.StatusOK, err == nil && (m.Kind == codec.KindRequest || m.Flags.Has(codec.FlagNullID))
	switch {
	case err == nil:
	case errors.Is(err, codec.ErrBatch):
		asks = asksPlain(body)
	default:
		asks = true
		if _, again := codec.Parse(body, codec.ScanOptions{Profile: codec.JSONRPC, MaxDepth: e.o.Limits.MaxDepth}); again != nil {
			status = http.StatusBadRequest
		}
	}
	if !e.enterPlain(p) {
		refusePlain(w, http.StatusServiceUnavailable, gateway.CodeStopping, "the gateway is shutting down")
		return
	}
	defer e.leavePlain(p)
	s := e.g.Join(p)
	defer s.Gone(nil)
	var b link.Burst
	if err != nil {
		s.Refused(&b, &m, err)
	} else if err = s.Receive(&b, &m); err != nil {
		p.End(err)
	}
	b.Flush()
	if !asks {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	select {
	case <-p.done:
	case <-r.Context().Done():
		return // its client has gone, and the calls go with the session
	}
	if p.over != nil {
		refusePlain(w, http.StatusServiceUnavailable, gateway.CodeStopping, "the gateway is shutting down")
		return
	}
	if len(p.answer) == 0 {
		w.WriteHeader(http.StatusNoContent) // a batch whose requests it cancelled itself
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(p.answer) // who does not read it has gone
}

// asksPlain reports whether a batch has anything that is answered.
func asksPlain(frame []byte) bool {
	for element, err := range codec.SplitBatch(frame, codec.ScanOptions{}) {
		if element == nil || err != nil {
			return true
		}
		m, err := codec.Parse(element, codec.ScanOptions{Profile: codec.JSONRPC})
		if err != nil || m.Kind == codec.KindRequest {
			return true
		}
	}
	return false
}

func refusePlain(w http.ResponseWriter, status int, code int64, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(codec.AppendError(nil, []byte("null"), &codec.Error{Code: code, Message: text}))
}

// Send implements link.Client. What is no answer has nowhere to go.
func (p *plain) Send(f *link.Frame, _ *link.Burst) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return link.ErrGone
	default:
	}
	if f.Class != link.Answer {
		return nil
	}
	p.answer = f.AppendTo(nil)
	close(p.done)
	return nil
}

// Queued implements link.Client.
func (p *plain) Queued() (bytes, bound int64) { return 0, p.bound }

// End implements link.Client.
func (p *plain) End(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
	default:
		p.over = why
		if p.over == nil {
			p.over = link.ErrGone
		}
		close(p.done)
	}
}

// Peer implements link.Client.
func (p *plain) Peer() link.Peer { return p.who }

func (e *Endpoint) enterPlain(p *plain) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.plain[p] = struct{}{}
	}
	return !e.closed
}

func (e *Endpoint) leavePlain(p *plain) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.plain, p)
}
