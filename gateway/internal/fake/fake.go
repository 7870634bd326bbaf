package fake

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// Server is a link.Opener whose ways the test has in its hand. The zero Server opens at
// once and answers initialize.
type Server struct {
	// Fail, if it is set, is asked before each opening; its error is that of Open.
	Fail func(n int) error
	// Silent leaves the handshake unanswered.
	Silent bool
	// Discover is the result of server/discover; "" refuses it, as a server of the
	// older era does, "?" leaves it unanswered and "!" dies of it. Initialize is that of
	// initialize: "" is Hello, "-" refuses it.
	Discover, Initialize string
	// Streams is what link.Streamer says of its ways.
	Streams bool
	// Answers says that each request is answered with {} before Send returns.
	Answers bool
	// Forgets says that ways are not kept for Way, only counted, and the last of them
	// for Last.
	Forgets bool
	// Lingers is how long a way takes to go when it is ended.
	Lingers time.Duration
	// Asked gets the methods of the handshake as they come in, Said the frames.
	Asked, Said func(string)

	mu   sync.Mutex // guards what follows
	ways []*Way
	more chan struct{}
	live int
	most int
	last *Way
	all  int
}

// Hello is what a Server answers to initialize.
const Hello = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`

// String implements link.Opener.
func (s *Server) String() string { return "fake" }

// Open implements link.Opener.
func (s *Server) Open(_ context.Context, owner link.Owner, k link.Key) (link.Upstream, error) {
	s.mu.Lock()
	n := len(s.ways)
	s.mu.Unlock()
	if s.Fail != nil {
		if err := s.Fail(n); err != nil {
			return nil, err
		}
	}
	w := &Way{Owner: owner, Key: k, server: s, changed: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = w
	if s.all++; !s.Forgets {
		s.ways = append(s.ways, w)
	}
	s.live++
	s.most = max(s.most, s.live)
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
	return w, nil
}

// Way waits for the n-th way, from 0.
func (s *Server) Way(n int) *Way { return s.WayOr(n, nil) }

// WayOr is Way until stop is closed, when it is nil.
func (s *Server) WayOr(n int, stop <-chan struct{}) *Way {
	for {
		s.mu.Lock()
		if len(s.ways) > n {
			defer s.mu.Unlock()
			return s.ways[n]
		}
		if s.more == nil {
			s.more = make(chan struct{})
		}
		more := s.more
		s.mu.Unlock()
		select {
		case <-more:
		case <-stop:
			return nil
		}
	}
}

// Opened is how many ways there were.
func (s *Server) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// Last is the way that was opened last.
func (s *Server) Last() *Way {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Most is how many ways there were at once.
func (s *Server) Most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Way is one way to a Server.
type Way struct {
	Owner link.Owner
	Key   link.Key

	server  *Server
	changed chan struct{}

	mu      sync.Mutex // guards what follows
	frames  []string
	read    int
	cancels []Cancel
	full    bool
	ended   bool
}

// Cancel is one cancel that a Way was told of.
type Cancel struct {
	Call    int64
	Expired bool
	Note    string // "" if there was none
}

var errEnded = errors.New("fake: ended")

// Send implements link.Upstream.
func (w *Way) Send(f *link.Frame, _ *link.Burst) error {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return link.ErrGone
	}
	if w.full {
		w.mu.Unlock()
		return link.ErrFull
	}
	w.mu.Unlock()
	if f.Call != 0 && !w.Owner.Dispatch(f.Call) {
		return nil
	}
	text := string(f.AppendTo(nil))
	m, err := codec.Parse([]byte(text), codec.ScanOptions{Profile: codec.JSONRPC})
	if err != nil {
		return err
	}
	switch method := string(m.Method()); method {
	case "server/discover", "initialize", "notifications/initialized":
		if w.server.Asked != nil {
			w.server.Asked(method)
		}
		if w.server.Said != nil {
			w.server.Said(text)
		}
	}
	switch string(m.Method()) {
	case "server/discover":
		w.greet(&m, w.server.Discover)
		return nil
	case "initialize":
		w.greet(&m, cmp.Or(w.server.Initialize, Hello))
		return nil
	case "notifications/initialized":
		return nil
	}
	if w.server.Answers && f.Call != 0 {
		w.Say(string(codec.AppendResult(nil, m.RawID(), []byte("{}"))))
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, text)
	w.tell()
	return nil
}

// greet answers a request of the handshake, or refuses it.
func (w *Way) greet(m *codec.Message, result string) {
	switch {
	case w.server.Silent, result == "?":
	case result == "!":
		w.Die(errEnded)
	case result == "" || result == "-":
		w.Say(string(codec.AppendError(nil, m.RawID(), &codec.Error{Code: codec.CodeMethodNotFound, Message: "no such method"})))
	default:
		w.Say(string(codec.AppendResult(nil, m.RawID(), []byte(result))))
	}
}

// Streams implements link.Streamer.
func (w *Way) Streams() bool { return w.server.Streams }

func (w *Way) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// Cancel implements link.Upstream.
func (w *Way) Cancel(call int64, c link.Cancel) {
	k := Cancel{Call: call, Expired: c.Expired}
	if c.Note != nil {
		k.Note = string(c.Note.AppendTo(nil))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancels = append(w.cancels, k)
	w.tell()
}

// End implements link.Upstream.
func (w *Way) End(error) {
	go func() {
		if w.server.Lingers > 0 {
			time.Sleep(w.server.Lingers)
		}
		w.Die(errEnded)
	}()
}

// Ended reports whether the way has gone.
func (w *Way) Ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// Die says that the server has gone, once.
func (w *Way) Die(why error) {
	w.mu.Lock()
	first := !w.ended
	w.ended = true
	w.mu.Unlock()
	if first {
		w.server.mu.Lock()
		w.server.live--
		w.server.mu.Unlock()
		w.Owner.Gone(why)
	}
}

// Fill makes Send fail with ErrFull, or work again.
func (w *Way) Fill(full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.full = full
}

// Say brings a frame of the server.
func (w *Way) Say(frame string) { _ = say(w.Owner, frame) } // a server is told nothing

func say(r link.Receiver, frame string) error {
	m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
	if err != nil {
		r.Refused(nil, &m, err)
		return nil
	}
	return r.Receive(nil, &m)
}

// Next waits for the next frame but the handshake.
func (w *Way) Next() string {
	frame, _ := w.NextOr(nil)
	return frame
}

// NextOr is Next until stop is closed.
func (w *Way) NextOr(stop <-chan struct{}) (frame string, ok bool) {
	for {
		w.mu.Lock()
		if w.read < len(w.frames) {
			defer w.mu.Unlock()
			w.read++
			return w.frames[w.read-1], true
		}
		w.mu.Unlock()
		select {
		case <-w.changed:
		case <-stop:
			return "", false
		}
	}
}

// NextRequest waits for the next frame and gives its id as well.
func (w *Way) NextRequest() (id, frame string) {
	frame = w.Next()
	m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
	if err != nil {
		return "", frame
	}
	return string(m.RawID()), frame
}

// Cancels gives the cancels so far.
func (w *Way) Cancels() []Cancel {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Cancel(nil), w.cancels...)
}

// Forget lets go of what was sent.
func (w *Way) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames, w.read, w.cancels = nil, 0, nil
}
