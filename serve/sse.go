package serve

import (
	"net/http"
	"strconv"
	"time"
)

// patience writes a response piece by piece, each under a deadline: a client that
// reads slowly is waited for, one that does not read costs no more than that.
type patience struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration // not positive is none
}

func newPatience(w http.ResponseWriter, limit time.Duration) *patience {
	return &patience{ResponseWriter: w, control: http.NewResponseController(w), limit: limit}
}

func (p *patience) write(b []byte) error {
	for {
		piece := b[:min(len(b), writeBytes)]
		if p.limit > 0 {
			// Not every ResponseWriter can; then the server's own limits must do.
			_ = p.control.SetWriteDeadline(time.Now().Add(p.limit))
		}
		if _, err := p.Write(piece); err != nil {
			return err
		}
		if b = b[len(piece):]; len(b) == 0 {
			return nil
		}
	}
}

// sseWriter writes server-sent events to one HTTP response, each flushed.
type sseWriter struct {
	to    *patience
	began bool
	buf   []byte
}

func newSSEWriter(w http.ResponseWriter, limit time.Duration) *sseWriter {
	return &sseWriter{to: newPatience(w, limit)}
}

// begin sends the headers, once.
func (s *sseWriter) begin() error {
	if s.began {
		return nil
	}
	s.head()
	return s.flush(nil)
}

// head writes the headers, which flush sends.
func (s *sseWriter) head() {
	s.began = true
	h := s.to.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	s.to.WriteHeader(http.StatusOK)
}

// event sends a message. id is left out when it is empty.
func (s *sseWriter) event(id string, frame []byte) error {
	if err := s.begin(); err != nil {
		return err
	}
	s.buf = s.buf[:0]
	if id != "" {
		s.buf = append(append(append(s.buf, "id: "...), id...), '\n')
	}
	s.buf = append(s.buf, "event: message\ndata: "...)
	s.buf = append(s.buf, frame...)
	s.buf = append(s.buf, "\n\n"...)
	return s.flush(s.buf)
}

// prime sends an event without data, so that the client has an id to come back
// with, and says how long it should wait before it does.
func (s *sseWriter) prime(id string, retry time.Duration) error {
	if err := s.begin(); err != nil {
		return err
	}
	s.buf = append(append(append(s.buf[:0], "id: "...), id...), '\n')
	if retry > 0 {
		s.buf = append(s.buf, "retry: "...)
		s.buf = strconv.AppendInt(s.buf, retry.Milliseconds(), 10)
		s.buf = append(s.buf, '\n')
	}
	s.buf = append(s.buf, "data: \n\n"...)
	return s.flush(s.buf)
}

// comment keeps the connection alive.
func (s *sseWriter) comment() error {
	if err := s.begin(); err != nil {
		return err
	}
	return s.flush([]byte(":\n\n"))
}

// sseKeep is the longest buffer that a stream keeps while it is idle.
const sseKeep = 1 << 10

func (s *sseWriter) flush(p []byte) error {
	if cap(s.buf) > sseKeep {
		s.buf = nil
	}
	if err := s.to.write(p); err != nil {
		return err
	}
	return s.to.control.Flush()
}
