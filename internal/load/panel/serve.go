package panel

import (
	"bytes"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/correlator-go/correlator/internal/load/page"
)

const (
	// tokenHeader carries the token of a button. A page of another site cannot set
	// it: the browser would ask first, and is not answered.
	tokenHeader = "X-Loadgen-Token"
	// wishBytes is more than any button says.
	wishBytes = 16
	// step is how much a press changes the rate: a tenth.
	step = 0.1
)

func (p *Panel) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.servePage)
	mux.HandleFunc("GET /events", p.serveEvents)
	mux.HandleFunc("POST /control", p.serveControl)
	return guardHost(http.NewCrossOriginProtection().Handler(p.guardToken(mux)))
}

// guardHost refuses a Host that is neither an address nor localhost: a name can be
// made to point here by whoever owns it.
func guardHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// net/http reads a body to its end before it answers, even to a stranger.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", page.Policy())
		if !plainHost(r.Host) {
			http.Error(w, "loadgen: this is reached by its address or as localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func plainHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return strings.EqualFold(name, "localhost") || net.ParseIP(name) != nil
}

// guardToken refuses who does not know the panel's address. A button must say the
// token in its header; looking takes it from the address.
func (p *Panel) guardToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get(tokenHeader)
		if r.Method == http.MethodGet && got == "" {
			got = r.URL.Query().Get("token")
		}
		if subtle.ConstantTimeCompare([]byte(got), []byte(p.token)) != 1 {
			http.Error(w, "loadgen: open the address that loadgen printed, with its token", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *Panel) servePage(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	p.drawing.Lock()
	err := p.page.Page(&b)
	p.drawing.Unlock()
	if err != nil {
		http.Error(w, "loadgen: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	_, _ = w.Write(b.Bytes()) // an error is the client's
}

// serveEvents sends drawings until the last one, until the client goes, or until it
// takes too long over one.
func (p *Panel) serveEvents(w http.ResponseWriter, r *http.Request) {
	reader := p.crowd.join()
	if reader == nil {
		http.Error(w, "loadgen: too many look on, or it is over", http.StatusServiceUnavailable)
		return
	}
	defer p.crowd.leave(reader)
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	if c.SetReadDeadline(time.Time{}) != nil || c.Flush() != nil {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-p.quit:
			return
		case d := <-reader.next:
			if c.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
				return
			}
			if _, err := w.Write(d.event); err != nil || c.Flush() != nil || d.last {
				return
			}
		}
	}
}

// serveControl is a button that was pressed. What came of it shows in the next
// drawing.
func (p *Panel) serveControl(w http.ResponseWriter, r *http.Request) {
	wish, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wishBytes))
	if err != nil {
		http.Error(w, "loadgen: that is no button", http.StatusBadRequest)
		return
	}
	switch string(wish) {
	case "pause":
		p.control.Pause()
	case "resume":
		p.control.Resume()
	case "faster":
		p.control.Nudge(1 + step)
	case "slower":
		p.control.Nudge(1 - step)
	case "stop":
		p.control.Stop()
	default:
		http.Error(w, "loadgen: want pause, resume, faster, slower or stop", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
