package echo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/correlator-go/correlator/codec"
)

// burstBytes is how many bytes of answers are gathered before they are written
// although more requests are at hand.
const burstBytes = 256 << 10

// ErrDied is returned by Serve when Shape.DieAfter ended the connection.
var ErrDied = errors.New("echo: died after the number of requests asked for")

// Serve answers the requests that arrive on rwc until it ends, and closes it.
// It returns nil when the client ended the connection, ErrDied when the shape
// did, and otherwise what went wrong. One call serves one connection.
func Serve(rwc io.ReadWriteCloser, o Options) error {
	o = o.withDefaults()
	s := &server{rwc: rwc, o: o, start: time.Now()}
	_, s.lines = o.Framer.(codec.LineFramer)
	number := o.Counters.connections.Add(1)
	defer rwc.Close()
	if o.Shape != (Shape{}) {
		s.held = newHeld(s, uint64(number))
		defer s.held.end()
	}
	err := s.serve()
	s.o.Counters.add(&s.n)
	if gone(err) {
		return nil
	}
	return err
}

// gone reports whether err only says that the other end closed.
func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed)
}

// server is one connection.
//
// Only the goroutine of Serve touches it, apart from rwc's Write, which belongs
// to held's goroutine when there is one.
type server struct {
	rwc   io.ReadWriteCloser
	o     Options
	start time.Time
	out   []byte // answers of this burst, framed
	n     Counts // counted since the last flush
	held  *held  // nil without a shape
	lines bool   // the framer is codec.LineFramer
}

// serve reads until it cannot; the error is never nil.
func (s *server) serve() error {
	frames := codec.NewReader(s, codec.ReaderOptions{Framer: s.o.Framer, MaxFrame: s.o.MaxFrame})
	for {
		frame, err := frames.Next()
		switch {
		case err == nil:
			err = s.handle(frame)
		case codec.Recoverable(err):
			s.n.Unreadable++
			err = nil
		}
		if err != nil {
			return err
		}
	}
}

// handle answers one frame.
func (s *server) handle(frame []byte) error {
	if !s.o.MCP && s.held == nil {
		if id, method, params, ok := quick(frame); ok && string(method) != CountersMethod {
			s.n.Requests++
			if s.lines { // what came as a line has no line's end within: sealing it would look for one
				return s.gather(append(codec.AppendResult(s.out, id, params), '\n'), nil)
			}
			start := len(s.out)
			return s.gather(s.o.Framer.Seal(codec.AppendResult(s.o.Framer.Open(s.out), id, params), start))
		}
	}
	// Bodies come back byte for byte, so whoever sent them may judge them.
	m, err := codec.Parse(frame, codec.ScanOptions{Profile: s.o.Profile, TrustBody: true})
	switch {
	case err != nil:
		s.n.Unreadable++
	case m.Kind == codec.KindRequest:
		return s.request(&m)
	case m.Kind == codec.KindNotification:
		s.n.Notifications++
		if isCancel(m.Method()) {
			s.n.Cancels++
		}
	}
	return nil
}

func isCancel(method []byte) bool {
	return string(method) == "notifications/cancelled" || string(method) == "$/cancelRequest"
}

func (s *server) request(m *codec.Message) error {
	if string(m.Method()) == CountersMethod {
		return s.report(m)
	}
	s.n.Requests++
	if s.held != nil {
		return s.held.admit(m)
	}
	return s.gather(s.appendAnswer(s.out, m))
}

// gather takes the burst with one more answer in it.
func (s *server) gather(out []byte, err error) error {
	if err != nil {
		return err
	}
	s.out = out
	s.n.Answers++
	if len(s.out) >= burstBytes {
		return s.flush()
	}
	return nil
}

// appendAnswer appends the framed answer to m.
func (s *server) appendAnswer(dst []byte, m *codec.Message) ([]byte, error) {
	start := len(dst)
	dst = s.o.Framer.Open(dst)
	if s.o.MCP {
		dst = s.appendMCP(dst, m)
	} else {
		dst = codec.AppendResult(dst, m.RawID(), m.Params())
	}
	return s.o.Framer.Seal(dst, start)
}

// report answers CountersMethod. The answer takes the same way as all others,
// so that it comes after them.
func (s *server) report(m *codec.Message) error {
	s.o.Counters.add(&s.n)
	counts, err := json.Marshal(s.o.Counters.Snapshot())
	if err != nil {
		return fmt.Errorf("echo: encoding the counters: %w", err)
	}
	at := len(s.out)
	s.out = codec.AppendResult(s.o.Framer.Open(s.out), m.RawID(), counts)
	if s.out, err = s.o.Framer.Seal(s.out, at); err != nil {
		return err
	}
	if s.held != nil {
		s.held.control(s.out[at:])
		s.out = s.out[:at]
	}
	return nil
}

// Read implements io.Reader for the frame reader: what was gathered goes out
// before more input is waited for, so that each burst is one write and no answer
// waits for the next request.
func (s *server) Read(p []byte) (int, error) {
	if err := s.flush(); err != nil {
		return 0, err
	}
	n, err := s.rwc.Read(p)
	s.n.BytesIn += int64(n)
	if shape := &s.o.Shape; shape.StallFor > 0 {
		if now := time.Since(s.start); now >= shape.StallAfter && now < shape.StallAfter+shape.StallFor {
			s.stall(shape.StallAfter + shape.StallFor - now)
		}
	}
	return n, err
}

// stall reads nothing for a while.
func (s *server) stall(d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-s.o.Quit:
	}
}

// flush publishes the counts and then writes what was gathered.
func (s *server) flush() error {
	if len(s.out) == 0 {
		s.o.Counters.add(&s.n)
		return nil
	}
	s.n.Writes++
	s.n.BytesOut += int64(len(s.out))
	s.o.Counters.add(&s.n)
	_, err := s.rwc.Write(s.out)
	s.out = s.out[:0]
	if err != nil {
		return fmt.Errorf("echo: writing answers: %w", err)
	}
	return nil
}
