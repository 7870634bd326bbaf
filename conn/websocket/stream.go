package websocket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	ws "github.com/coder/websocket"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// DefaultCloseTimeout is how long Close waits for the peer's close frame.
const DefaultCloseTimeout = time.Second

// Options of a Stream, on either side. The zero value is a good one.
type Options struct {
	// ReadLimit closes the link, with status 1009, when a message comes in that is
	// longer, in bytes. Zero and negative are no limit: conn.Options.MaxFrame
	// bounds what is kept of a message, and the link stays up. A frame that announces
	// more than 4 GiB ends the link in any case, before it comes.
	ReadLimit int64
	// Ping is the pause between two pings. Zero and negative send none.
	Ping time.Duration
	// PingTimeout is how long a pong may take before the link is given up with
	// ErrNoPong. Zero is Ping, negative waits for ever.
	PingTimeout time.Duration
	// CloseTimeout is how long Close waits for the peer to say goodbye too. Zero is
	// DefaultCloseTimeout, negative does not wait.
	CloseTimeout time.Duration
	// Compress offers, or accepts, permessage-deflate without context takeover, for
	// messages of 512 bytes and more.
	Compress bool
}

func (o Options) compression() ws.CompressionMode {
	if o.Compress {
		return ws.CompressionNoContextTakeover
	}
	return ws.CompressionDisabled
}

var (
	// ErrReadLimit: a message above Options.ReadLimit came in, or a frame above 4 GiB was
	// announced, which ended the link.
	ErrReadLimit = errors.New("websocket: message above the read limit")
	// ErrNoPong: a ping was not answered within Options.PingTimeout.
	ErrNoPong = errors.New("websocket: ping not answered")
)

// Status codes of closing, RFC 6455 section 7.4.1.
const (
	StatusNormal          = 1000
	StatusGoingAway       = 1001
	StatusProtocolError   = 1002
	StatusUnsupportedData = 1003
	StatusNone            = 1005 // the peer gave no status
	StatusInvalidData     = 1007
	StatusPolicyViolation = 1008
	StatusTooBig          = 1009
	StatusInternalError   = 1011
)

// CloseError is how the peer closed the link. It is io.EOF for errors.Is when the
// status says that all is well: StatusNormal, StatusGoingAway, StatusNone.
type CloseError struct {
	Code   int    // the status: one of the Status constants, or another
	Reason string // at most 123 bytes, chosen by the peer
}

// Error gives the code and the reason.
func (e *CloseError) Error() string {
	text := fmt.Sprintf("websocket: closed by the peer with status %d", e.Code)
	if e.Reason != "" {
		text += fmt.Sprintf(": %q", e.Reason)
	}
	return text
}

// Is finds io.EOF in an orderly close.
func (e *CloseError) Is(target error) bool {
	return target == io.EOF && (e.Code == StatusNormal || e.Code == StatusGoingAway || e.Code == StatusNone)
}

// Stream is a WebSocket as a stream of bytes for conn.New, with Framer to tell its
// messages apart. Read is for one goroutine at a time, and so is Write; everything
// else may be called at any time. Something must always be reading, as a Conn does:
// it is the reader that answers pings and hears pongs.
type Stream struct {
	socket *ws.Conn
	link   *link
	o      Options

	message io.Reader // of the message that is being read; nil between two
	ended   bool      // its last byte was given, its end was not

	code   atomic.Int32
	reason atomic.Pointer[string]
	cause  atomic.Pointer[error] // why this side gave the link up
	closed sync.Once
	pings  pings
}

func newStream(socket *ws.Conn, l *link, o Options) *Stream {
	if o.PingTimeout == 0 {
		o.PingTimeout = o.Ping
	}
	switch {
	case o.CloseTimeout == 0:
		o.CloseTimeout = DefaultCloseTimeout
	case o.CloseTimeout < 0:
		o.CloseTimeout = 0
	}
	s := &Stream{socket: socket, link: l, o: o}
	s.code.Store(StatusNormal)
	limit := o.ReadLimit
	if limit <= 0 {
		limit = -1
	}
	socket.SetReadLimit(limit)
	s.pings.begin(o.Ping, s.ping)
	return s
}

// Conn makes a connection of s, which it owns from then on; o.Framer is replaced.
func (s *Stream) Conn(o conn.Options) (*conn.Conn, error) {
	o.Framer = Framer{}
	return conn.New(s, o)
}

// Subprotocol is the one that was agreed on, "" for none.
func (s *Stream) Subprotocol() string { return s.socket.Subprotocol() }

// ReadLazily implements codec.LazyReader: the buffer is borrowed when a message has begun.
func (s *Stream) ReadLazily(from codec.Lender) (int, error) {
	for s.message == nil && !s.ended {
		if in := s.link.in; in != nil {
			in.await(from)
		}
		if err := s.look(true); err != nil && !errors.Is(err, errIdle) {
			return 0, err
		}
	}
	return s.Read(from.Lend())
}

// look asks the library for a message; idly says that errIdle may come before one has
// begun. It is apart from ReadLazily so that nothing of it lies on the stack of who
// waits there.
//
//go:noinline
func (s *Stream) look(idly bool) error {
	if in := s.link.in; idly && in != nil {
		in.between.Store(true)
		defer in.between.Store(false)
	}
	_, message, err := s.socket.Reader(context.Background())
	switch {
	case err == nil:
		s.message = message
		return nil
	case errors.Is(err, errIdle):
		return err
	}
	return s.readError(err)
}

// Read reads what messages hold, each followed by its end.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if s.ended {
		s.ended = false
		p[0] = end
		return 1, nil
	}
	if s.message == nil {
		if err := s.look(false); err != nil {
			return 0, err
		}
	}
	n, err := s.message.Read(p)
	for rest := p[:n]; ; { // no message may hold an end: what is no UTF-8 stays none
		i := bytes.IndexByte(rest, end)
		if i < 0 {
			break
		}
		rest[i] = end - 1
		rest = rest[i+1:]
	}
	switch {
	case err == nil:
	case isEnd(err) && !s.link.cut.Load():
		s.message = nil
		if n == len(p) {
			s.ended = true
		} else {
			p[n] = end
			n++
		}
	default:
		return n, s.readError(err)
	}
	return n, nil
}

// isEnd tells the end of a message, which is io.EOF itself, from that of the link,
// which wraps it.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) && errors.Unwrap(err) == nil && !errors.Is(err, io.ErrUnexpectedEOF)
}

// readError says why there is nothing more to read.
func (s *Stream) readError(err error) error {
	if cause := s.cause.Load(); cause != nil {
		return *cause
	}
	if closed, ok := errors.AsType[ws.CloseError](err); ok {
		return &CloseError{int(closed.Code), closed.Reason}
	}
	if long, ok := errors.AsType[*announcedError](err); ok {
		s.CloseWith(StatusTooBig, "") // nobody has told the peer yet
		return long
	}
	switch {
	case errors.Is(err, ws.ErrMessageTooBig):
		return ErrReadLimit
	case errors.Is(err, io.EOF):
		// The link ended without a close frame: nobody knows what was cut off.
		return fmt.Errorf("websocket: no close frame: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("websocket: %w", err)
}

// Write writes whole messages, each followed by its end, as Framer makes them, and
// waits until the system has taken them, all in one call.
func (s *Stream) Write(p []byte) (int, error) {
	s.link.gather()
	written := 0
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, end)
		if i < 0 {
			_ = s.link.flush()
			return written, fmt.Errorf("websocket: %d bytes behind the last message", len(rest))
		}
		if err := s.socket.Write(context.Background(), ws.MessageText, rest[:i]); err != nil {
			_ = s.link.flush()
			return written, s.writeError(err)
		}
		rest = rest[i+1:]
		written += i + 1
	}
	if err := s.link.flush(); err != nil {
		return 0, s.writeError(err)
	}
	return written, nil
}

func (s *Stream) writeError(err error) error {
	if cause := s.cause.Load(); cause != nil {
		return *cause
	}
	return fmt.Errorf("websocket: %w", err)
}

// CloseWith says what status and reason Close will give. Codes that no endpoint
// may send, and reasons above 123 bytes, become StatusInternalError without one.
func (s *Stream) CloseWith(code int, reason string) {
	s.code.Store(int32(code))
	s.reason.Store(&reason)
}

// Close says goodbye with StatusNormal, or what CloseWith said, waits for the
// peer's at most Options.CloseTimeout, and ends the link. It may be called again,
// and while other methods are under way, which then fail.
func (s *Stream) Close() error {
	s.closed.Do(func() {
		s.pings.end()
		if in := s.link.in; in != nil {
			in.parting.Store(true)
		}
		code, reason := int(s.code.Load()), ""
		if r := s.reason.Load(); r != nil {
			reason = *r
		}
		if !sendable(code) || len(reason) > reasonMost {
			code, reason = StatusInternalError, ""
		}
		late := time.AfterFunc(s.o.CloseTimeout, func() { _ = s.link.Conn.Close() })
		defer late.Stop()
		_ = s.socket.Close(ws.StatusCode(code), reason) // the link is closed in any case
	})
	s.pings.over.Wait()
	return nil
}

// reasonMost is what a close frame has room for beside the code.
const reasonMost = 123

// sendable reports whether an endpoint may send code.
func sendable(code int) bool {
	switch code {
	case 1004, StatusNone, 1006:
		return false
	}
	return code >= 1000 && code <= 1014 || code >= 3000 && code <= 4999
}

// fail ends the link for a reason of this side's.
func (s *Stream) fail(why error) {
	s.cause.CompareAndSwap(nil, &why)
	_ = s.link.Conn.Close()
}
