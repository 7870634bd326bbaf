package serve

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// detached is an event stream that net/http has handed over: its connection, the
// goroutine that writes to it, and one that notices when the client goes. What net/http
// keeps for a request, 18 KiB of buffers and stacks, is gone.
type detached struct {
	conn net.Conn
	gone chan struct{} // closed when the client has gone
	over chan struct{} // closed when both goroutines are about to end
}

// detach makes the response to r a stream of its own, and returns what answers from then
// on, nil where that cannot be: in HTTP/2, in 1.0, behind a ResponseWriter that has no
// connection to give. The head of the response has been written in that case as well.
func (h *HTTP) detach(w http.ResponseWriter, r *http.Request, events *sseWriter) *detached {
	if !h.o.Detach || r.ProtoMajor != 1 || r.ProtoMinor < 1 {
		return nil
	}
	w.Header().Set("Connection", "close") // no request can follow on it
	events.head()
	conn, _, err := http.NewResponseController(w).Hijack() // which writes the head, and announces chunks
	if err != nil {
		_ = events.flush(nil) // whoever writes next finds out
		return nil
	}
	d := &detached{conn: conn, gone: make(chan struct{}), over: make(chan struct{})}
	h.mu.Lock()
	h.detached[d] = struct{}{}
	h.mu.Unlock()
	events.to = newPatience(&chunked{conn: conn}, h.front.o.WriteTimeout)
	go d.listen()
	return d
}

// overheard is how many bytes a client may send behind its request, which nobody will
// answer.
const overheard = 64 << 10

// listen waits for the client to go.
func (d *detached) listen() {
	defer close(d.gone)
	p := make([]byte, 64)
	for heard := 0; heard < overheard; {
		n, err := d.conn.Read(p)
		if err != nil {
			return
		}
		heard += n
	}
}

// lastChunk is how long the end of a stream waits for a client that does not read.
const lastChunk = time.Second

// end closes the connection, behind the last chunk if nothing is missing.
func (h *HTTP) end(d *detached, whole bool) {
	if whole {
		_ = d.conn.SetWriteDeadline(time.Now().Add(lastChunk))
		_, _ = d.conn.Write([]byte("0\r\n\r\n")) // the client has gone, or has what it needs
	}
	_ = d.conn.Close()
	<-d.gone
	h.mu.Lock()
	delete(h.detached, d)
	h.mu.Unlock()
	close(d.over)
}

// EndDetached waits for the streams that HTTPOptions.Detach took from net/http, whose
// sessions were ended before, and closes those that are not written to their end within
// a limit. An http.Server does not know of them.
func (h *HTTP) EndDetached(within time.Duration) {
	h.mu.Lock()
	left := make([]*detached, 0, len(h.detached))
	for d := range h.detached {
		left = append(left, d)
	}
	h.mu.Unlock()
	late := time.AfterFunc(within, func() {
		for _, d := range left {
			_ = d.conn.Close()
		}
	})
	defer late.Stop()
	for _, d := range left {
		<-d.over
	}
}

// chunked writes a response's body to its connection, RFC 9112 section 7.1.
type chunked struct{ conn net.Conn }

var chunkBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Header implements http.ResponseWriter: the head has gone out.
func (c *chunked) Header() http.Header { return http.Header{} }

// WriteHeader implements http.ResponseWriter.
func (c *chunked) WriteHeader(int) {}

// Write writes one chunk.
func (c *chunked) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // an empty one would be the last
	}
	b := chunkBuffers.Get().(*[]byte)
	defer chunkBuffers.Put(b)
	*b = strconv.AppendInt((*b)[:0], int64(len(p)), 16)
	*b = append(append(append(*b, "\r\n"...), p...), "\r\n"...)
	if _, err := c.conn.Write(*b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// FlushError implements what http.ResponseController wants: all is written.
func (c *chunked) FlushError() error { return nil }

// SetWriteDeadline is that of the connection.
func (c *chunked) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }

// listening carries a session's stream that a GET has opened. The visit of its request
// ends with it.
func (h *HTTP) listening(w http.ResponseWriter, r *http.Request, s *session, t *track, a *attachment, after uint64) {
	c := &carrier{http: h, session: s, track: t, hold: a, after: after, events: newSSEWriter(w, h.front.o.WriteTimeout)}
	d := h.detach(w, r, c.events)
	if d == nil {
		defer s.exit()
		defer s.leave(t, a)
		c.run(r.Context().Done())
		return
	}
	go func() {
		whole := c.run(d.gone)
		s.leave(t, a)
		s.exit()
		h.end(d, whole)
	}()
}
