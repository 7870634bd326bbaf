package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// duplex is a connection over one stream of lines: standard input and output, a
// socket, a pipe.
type duplex struct {
	*Connection
	server *Server
	stream io.ReadWriteCloser
	box    *outbox
	once   sync.Once
	// closing is closed when the stream is, after the connection's end.
	closing chan struct{}

	mu    sync.Mutex // protects cause
	cause error      // why the connection was given up; nil for the stream's own end
}

var _ outlet = (*duplex)(nil)

// bind lets the peer's ids be watched: they name requests on one stream.
func (d *duplex) bind(c *Connection) {
	d.Connection, d.box.drained, d.box.giveUp = c, c.replay, d.fail
	c.watchIDs()
}

// ended ends the stream, whoever closed the connection.
func (d *duplex) ended() {
	defer close(d.closing)
	d.end()
}

func (d *duplex) write(_ mcp.ExchangeID, e *mcp.Effect, ack func(error)) error {
	if e.Refusal != mcp.NotRefused && !d.server.o.AnswerUnreadable && isAnonymous(e.Frame) {
		return nil // nobody could tell what it answers
	}
	return d.box.add(e.Frame, ack)
}

func (d *duplex) close(mcp.ExchangeID) {}

func (d *duplex) full(times int) (<-chan struct{}, bool) { return d.box.full(times) }

func (d *duplex) waiting() int64 { return d.box.held.Load() }

// fail gives the connection up; the reader and the writer end by it.
func (d *duplex) fail(err error) {
	d.mu.Lock()
	if d.cause == nil {
		d.cause = err
	}
	d.mu.Unlock()
	d.once.Do(func() { _ = d.stream.Close() })
}

// Serve serves one peer over stream, lines each holding one message, until the
// peer or ctx ends it, and closes stream. When the peer closes its end, what is
// live is still answered, for Options.DrainTimeout at most; subscriptions end.
//
// It returns nil when the peer closed its end and has everything, else what ended
// the connection: io.ErrUnexpectedEOF if that was inside a line, the stream's
// error, the cause of ctx, ErrStalled, ErrSlowSubscriber or ErrStopped. Handlers that were cancelled may go on for their
// grace.
func (s *Server) Serve(ctx context.Context, stream io.ReadWriteCloser) error {
	return s.ServeAs(ctx, stream, mcp.Caller{})
}

// ServeAs is Serve for a peer that the front end knows. Handlers see ctx's values.
func (s *Server) ServeAs(ctx context.Context, stream io.ReadWriteCloser, caller mcp.Caller) error {
	return s.serveStream(ctx, stream, caller, s.o.WriteTimeout)
}

func (s *Server) serveStream(ctx context.Context, stream io.ReadWriteCloser, caller mcp.Caller, stall time.Duration) error {
	began := time.Now()
	d := &duplex{server: s, stream: stream, box: newOutbox(s.o.WriteBuffer, stall)}
	d.closing = make(chan struct{})
	c, err := s.open(ctx, caller, d)
	if err != nil {
		_ = stream.Close()
		return err
	}
	stop := context.AfterFunc(ctx, func() { d.fail(context.Cause(ctx)) })
	defer stop()
	wrote := make(chan error, 1)
	go func() {
		err := d.box.run(stream)
		if err != nil && !c.isClosed() {
			d.fail(err)
		}
		wrote <- err
	}()
	err = d.read()
	if c.isClosed() { // not by the peer
		err = ErrStopped
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.asks.fail(io.EOF)
		drain, stop := s.draining(ctx)
		_ = c.Drain(drain)
		stop()
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	c.Close()
	<-d.closing
	if failed := <-wrote; err == nil {
		err = failed
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cause != nil {
		err = d.cause
	}
	c.sessionEnded(began, err)
	if err != nil {
		s.log(slog.LevelDebug, "connection ended", slog.Any("error", err))
	}
	return err
}

// end lets what is queued go out, if the peer takes it, and closes the stream.
func (d *duplex) end() {
	d.box.end()
	timer := time.NewTimer(stopSlack)
	defer timer.Stop()
	select {
	case <-d.box.over:
	case <-timer.C:
	}
	d.once.Do(func() { _ = d.stream.Close() })
}

// isAnonymous reports whether an error names no request.
func isAnonymous(frame []byte) bool {
	m, err := codec.Parse(frame, codec.ScanOptions{})
	return err == nil && m.IDKind <= codec.IDNull
}

// read is the loop of the reader. It waits for nothing but the stream, and for
// room if the peer asks and asks and reads nothing.
func (d *duplex) read() error {
	o := &d.server.o
	framer := &tailFramer{}
	long := false // a line is being skipped whose beginning did not tell its id
	framer.skipped = func(tail []byte) {
		if long {
			long = false
			d.tooLong(nil, tail)
		}
	}
	frames := codec.NewReader(d.stream, codec.ReaderOptions{OneGoroutine: true,
		Framer: framer, MaxFrame: o.MaxFrame, Scan: codec.ScanOptions{MaxDepth: o.MaxDepth},
	})
	var m codec.Message
	for {
		d.awaitRoom()
		err := frames.ReadMessage(&m)
		switch {
		case err == nil:
			d.take(&m, &m.Envelope, nil)
		case !codec.Recoverable(err):
			if errors.Is(err, io.ErrUnexpectedEOF) {
				d.trailing()
			}
			return err
		case errors.Is(err, codec.ErrFrameTooLarge):
			prefix, whole := prefixOf(err), len(framer.tail) > 0
			if _, ok := requestID(prefix); ok || whole {
				d.tooLong(prefix, framer.tail)
				continue
			}
			long = true
		case errors.Is(err, codec.ErrTooDeep):
			d.tooDeep(&m)
		default:
			d.strange(&m, err)
		}
	}
}

// awaitRoom stops reading while twice the write buffer waits: the reader's own
// answers, to requests that are refused for one, must be bounded too.
func (d *duplex) awaitRoom() {
	for {
		room, full := d.box.full(2)
		if !full {
			return
		}
		select {
		case <-room:
		case <-d.done:
			return
		}
	}
}

// take gives a frame to the connection and answers for it if it is refused.
func (d *duplex) take(m *codec.Message, e *codec.Envelope, ids []codec.ID) {
	var one [1]codec.ID
	if e != nil && e.Kind == codec.KindRequest {
		one[0] = m.ID()
		ids = one[:]
	}
	if e != nil && e.Flags.Has(codec.FlagNullID) {
		d.server.counts.unreadable.Add(1)
		d.dropped(Stray{Reason: StrayUnreadable, Frame: m.Frame()})
	}
	in := delivery{exchange: mcp.NewExchangeID(), frame: m.Frame(), envelope: e, ids: ids, caller: d.caller}
	err := d.receive(&in)
	if err == nil {
		return
	}
	if errors.Is(err, ErrDuplicateID) {
		// An answer to it would end the first one at the peer.
		d.server.counts.duplicates.Add(1)
		d.dropped(Stray{Reason: StrayDuplicate, Frame: m.Frame(), Err: err})
		return
	}
	for _, id := range ids {
		d.refuse(id, codec.CodeInternal, refusalText(err))
	}
}

func refusalText(err error) string {
	if errors.Is(err, ErrTooManyLive) {
		return "too many requests in flight"
	}
	return "shutting down"
}

// flies reports whether a request with one of these ids is in flight.
func (d *duplex) flies(ids ...codec.ID) bool {
	d.Connection.mu.Lock()
	defer d.Connection.unlock()
	for _, id := range ids {
		if _, ok := d.inFlight[id]; ok {
			return true
		}
	}
	return false
}

// refuse answers a request with an error, unless its id is that of one in flight.
func (d *duplex) refuse(id codec.ID, code int, text string) {
	if d.flies(id) {
		return
	}
	_ = d.box.add(codec.AppendError(nil, id.Append(nil), &codec.Error{Code: int64(code), Message: text}), nil)
}
