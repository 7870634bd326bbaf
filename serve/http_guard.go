package serve

import (
	"errors"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/correlator-go/correlator/codec"
)

// rejection is an HTTP request that is refused before it is a message.
type rejection struct {
	status    int
	reason    string // for the observer: a word
	text      string
	code      int    // of the JSON-RPC error in the body
	rawID     []byte // nil leaves it out
	challenge string
}

func refuse(status int, reason, text string) *rejection {
	return &rejection{status: status, reason: reason, text: text, code: codec.CodeInvalidRequest}
}

func (e *rejection) withID(raw []byte) *rejection {
	e.rawID = raw
	return e
}

func denied(err error) *rejection {
	e := refuse(http.StatusUnauthorized, "unauthorized", "not authorized")
	if h, ok := errors.AsType[*HTTPError](err); ok {
		e.status, e.text, e.challenge = h.Status, h.Text, h.Challenge
	}
	return e
}

// reject answers with a JSON-RPC error, so that clients can tell this server from
// one of another kind.
func (h *HTTP) reject(w http.ResponseWriter, e *rejection) {
	h.front.emit(Event{Kind: HTTPRejected, Code: e.status, Reason: e.reason})
	if e.challenge != "" {
		w.Header().Set("WWW-Authenticate", e.challenge)
	}
	_ = writeJSON(newPatience(w, h.front.o.WriteTimeout), e.status, codec.AppendError(nil, e.rawID, &codec.Error{Code: int64(e.code), Message: e.text}))
}

func writeJSON(to *patience, status int, frame []byte) error {
	h := to.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(frame)))
	to.WriteHeader(status)
	return to.write(frame)
}

// guard keeps out what a browser was lured into sending: a page of another site
// may resolve its own name to this machine, and then only Host and Origin tell.
func (h *HTTP) guard(r *http.Request) *rejection {
	if !h.o.AllowAnyHost && !h.hostAllowed(r) {
		return refuse(http.StatusForbidden, "host", "this host is not served here")
	}
	if !h.o.AllowAnyOrigin && !h.originAllowed(r) {
		return refuse(http.StatusForbidden, "origin", "this origin is not allowed here")
	}
	return nil
}

// hostAllowed says yes to any host where nothing is known of it; see hostKnown.
func (h *HTTP) hostAllowed(r *http.Request) bool {
	return h.hostKnown(r) || h.o.AllowedHosts == nil && !cameToLoopback(r)
}

// hostKnown reports whether the Host header is one that is expected: a page of
// another site cannot have it.
func (h *HTTP) hostKnown(r *http.Request) bool {
	host := hostname(r.Host)
	for _, allowed := range h.o.AllowedHosts {
		if strings.EqualFold(allowed, r.Host) || strings.EqualFold(allowed, host) {
			return true
		}
	}
	return cameToLoopback(r) && isLoopback(host)
}

func (h *HTTP) originAllowed(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if !h.oneOriginAllowed(origin, r) {
			return false
		}
	}
	return true
}

// oneOriginAllowed takes, beside what the options list, the server's own origin,
// but only under a host that is known: else both headers may come from a page that
// was lured here. On a loopback address all local origins are the server's own.
func (h *HTTP) oneOriginAllowed(origin string, r *http.Request) bool {
	if slices.Contains(h.o.AllowedOrigins, "*") {
		return true
	}
	for _, allowed := range h.o.AllowedOrigins {
		if strings.EqualFold(allowed, origin) {
			return true
		}
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || !h.hostKnown(r) {
		return false
	}
	return strings.EqualFold(u.Host, r.Host) || cameToLoopback(r) && isLoopback(u.Hostname())
}

// hostname is a Host header without its port and brackets.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func cameToLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// media checks what a POST brings and takes.
func media(r *http.Request) *rejection {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "content_type", "Content-Type must be application/json")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return refuse(http.StatusUnsupportedMediaType, "content_encoding", "a coded body is not taken")
	}
	if !accepts(r, "application/json") || !accepts(r, "text/event-stream") {
		return refuse(http.StatusNotAcceptable, "accept", "Accept must list application/json and text/event-stream")
	}
	return nil
}

// accepts reports whether r takes a media type.
func accepts(r *http.Request, kind string) bool {
	family, _, _ := strings.Cut(kind, "/")
	for _, line := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(line, ",") {
			name, params, err := mime.ParseMediaType(item)
			if err != nil || params["q"] == "0" {
				continue
			}
			if name == kind || name == "*/*" || name == family+"/*" {
				return true
			}
		}
	}
	return false
}
