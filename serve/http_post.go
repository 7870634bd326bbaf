package serve

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// post takes one message, of either era.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, caller mcp.Caller) {
	if e := media(r); e != nil {
		h.reject(w, e)
		return
	}
	if n := h.reading.Add(1); n > int64(h.front.o.MaxLive) {
		h.reading.Add(-1)
		h.busy(w, nil, int(n-1))
		return
	}
	body, e := h.body(w, r)
	h.reading.Add(-1)
	if e != nil {
		h.reject(w, e)
		return
	}
	m, batch, e := h.parse(body)
	if e != nil {
		h.reject(w, e)
		return
	}
	switch {
	case h.isModern(r, m, batch):
		h.modern(w, r, caller, m)
	case h.o.ModernOnly:
		// The reducer names the versions that there are.
		h.modern(w, r, caller, m)
	default:
		h.legacy(w, r, caller, m, batch)
	}
}

// body reads the body within its bounds.
func (h *HTTP) body(w http.ResponseWriter, r *http.Request) ([]byte, *rejection) {
	most := h.front.o.MaxFrame
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(min(r.ContentLength, 64<<10)))
	}
	_, err := buf.ReadFrom(io.LimitReader(r.Body, int64(most)+1))
	body := buf.Bytes()
	switch {
	case len(body) > most:
		h.front.emit(Event{Kind: FrameRejected, Exchange: mcp.NewExchangeID(), Problem: ProblemTooLarge})
		h.front.counts.rejected.Add(1)
		e := refuse(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("body above %d bytes", most))
		if id, ok := requestID(body[:min(len(body), codec.FramePrefix)]); ok {
			e.rawID = id.Append(nil)
		}
		return nil, e
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "body", "the body could not be read")
	}
	h.bodyWithin(w, 0) // from here on a read means that the client went
	return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), nil
}

// parse reads the message; batch says that it is an array.
func (h *HTTP) parse(body []byte) (m *codec.Message, batch bool, e *rejection) {
	parsed, err := codec.Parse(body, codec.ScanOptions{MaxDepth: h.front.o.MaxDepth})
	if err == nil {
		return &parsed, false, nil
	}
	syntax, isSyntax := errors.AsType[*codec.SyntaxError](err)
	if !isSyntax && errors.Is(err, codec.ErrBatch) {
		return &parsed, true, nil
	}
	h.front.counts.unreadable.Add(1)
	h.front.stray(Stray{Reason: StrayUnreadable, Frame: body, Err: err})
	e = refuse(http.StatusBadRequest, "message", "not a JSON-RPC message")
	if isSyntax {
		e.code = syntax.Code
		e.text += ": " + syntax.Problem // of our own words, nothing of the body's
	}
	if errors.Is(err, codec.ErrTooDeep) {
		h.front.emit(Event{Kind: FrameRejected, Exchange: mcp.NewExchangeID(), Problem: ProblemTooDeep})
		h.front.counts.rejected.Add(1)
		e.code, e.text = codec.CodeInvalidRequest, fmt.Sprintf("nested above %d", h.front.o.MaxDepth)
	}
	if parsed.IDKind > codec.IDNull {
		e.rawID = parsed.RawID()
	}
	return nil, false, e
}

var (
	metaVersion = []byte(`"` + mcp.MetaProtocolVersion + `"`)
	initialize  = mcp.MethodInitialize
)

// isModern tells the era of a message. Only the modern one says its version in
// every request, or in a header that the older one's first request lacks.
func (h *HTTP) isModern(r *http.Request, m *codec.Message, batch bool) bool {
	switch {
	case batch:
		return false
	case string(m.Method()) == initialize:
		return false
	case mcp.Revision(r.Header.Get(headerVersion)).IsModern():
		return true
	case m.Kind == codec.KindRequest && namesVersion(m.Params()):
		return true
	default:
		return r.Header.Get(headerSession) == "" && r.Header.Get(headerMethod) != ""
	}
}

// namesVersion reports whether the _meta of params has the version of the modern
// era, and not just some argument the same text.
func namesVersion(params []byte) bool {
	if !bytes.Contains(params, metaVersion) {
		return false
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if err := codec.DecodeValue(params, &p); err != nil {
		return false
	}
	_, ok := p.Meta[mcp.MetaProtocolVersion]
	return ok
}

// modern serves one message of the modern era, on a connection of its own: the ids
// that clients choose never meet, and nobody can cancel what is another's.
func (h *HTTP) modern(w http.ResponseWriter, r *http.Request, caller mcp.Caller, m *codec.Message) {
	if m.Kind != codec.KindRequest {
		h.modernNote(w, m)
		return
	}
	if live := h.live.Add(1); live > int64(h.front.o.MaxLive) {
		h.live.Add(-1)
		h.busy(w, m.RawID(), int(live-1))
		return
	}
	defer h.live.Add(-1)
	out := newPostStream(m.RawID(), h.front.o.WriteBuffer)
	c, err := h.backend.Open(r.Context(), Opening{Caller: caller}, out)
	if err != nil {
		h.reject(w, stopped().withID(m.RawID()))
		return
	}
	defer c.Close()
	x := mcp.NewExchangeID()
	if err := c.Receive(&Incoming{
		Exchange: x, Message: m, IDs: []codec.ID{m.ID()}, Caller: caller, Correlation: correlationOf(r), Headers: headersOf(r),
	}); err != nil {
		h.reject(w, stopped().withID(m.RawID()))
		return
	}
	out.serve(w, r, h, c, x)
}

// modernNote takes what is no request. No notification of the modern era means
// anything over HTTP, where the end of a response is its cancellation.
func (h *HTTP) modernNote(w http.ResponseWriter, m *codec.Message) {
	if m.Kind != codec.KindNotification || m.Flags.Has(codec.FlagNullID) {
		h.reject(w, refuse(http.StatusBadRequest, "message", "only requests and notifications are taken"))
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// busy refuses what is above a limit.
func (h *HTTP) busy(w http.ResponseWriter, rawID []byte, live int) {
	h.front.counts.rejected.Add(1)
	h.front.emit(Event{Kind: FrameRejected, Exchange: mcp.NewExchangeID(), Problem: ProblemTooMany})
	w.Header().Set("Retry-After", "1")
	e := refuse(http.StatusServiceUnavailable, "busy", fmt.Sprintf("%d requests in flight", live)).withID(rawID)
	e.code = codec.CodeInternal
	h.reject(w, e)
}

func stopped() *rejection {
	e := refuse(http.StatusServiceUnavailable, "stopped", "shutting down")
	e.code = codec.CodeInternal
	return e
}

// correlationOf is the value that a request brings, or a fresh one: over HTTP the
// body's is not asked.
func correlationOf(r *http.Request) string {
	given := r.Header.Get(headerCorrelation)
	if len(given) >= 1 && len(given) <= 128 && isVisible(given) {
		return given
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func isVisible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// headersOf are the headers that repeat what stands in the body.
func headersOf(r *http.Request) *mcp.Headers {
	return &mcp.Headers{
		Version: whole(r, headerVersion), Method: whole(r, headerMethod), Name: whole(r, headerName),
		Param: func(name string) (string, bool) {
			return whole(r, headerParam+name), len(r.Header.Values(headerParam+name)) > 0
		},
	}
}

// whole is all that a header says. Whoever looked at the request before may have
// gone by another of several lines, so they must not pass for one.
func whole(r *http.Request, name string) string { return strings.Join(r.Header.Values(name), ", ") }

// status is that of an answer with a response of its own.
func (f *Outgoing) status() int {
	if f.Status == 0 {
		return http.StatusOK
	}
	return f.Status
}

// statusOf is the HTTP status of an answer. Refusals of the protocol have theirs;
// what a handler came to is a success of the transport, unless it needs what the
// client did not declare, for which MCP names a status.
func statusOf(e *mcp.Effect) int {
	switch {
	case e.Refusal == mcp.RefusedMethod:
		return http.StatusNotFound
	case e.Refusal != mcp.NotRefused, e.Code == mcp.CodeMissingCapability:
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}
