package conn

import (
	"errors"
	"io"
	"math"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// Conn is one full-duplex connection: calls out, requests in. It owns two
// goroutines, a reader and a writer, beside the handlers that run. All methods
// are safe for concurrent use.
type Conn struct {
	o      Options
	scan   codec.ScanOptions
	stream io.ReadWriteCloser

	engine  *engine.Engine[[]byte]
	feeds   feeds
	results results
	line    *line
	room    *room
	cancels *cancels
	writer  *writer
	hold    hold

	serving  serving
	requests lane
	notes    lane

	watch *keepAlive // nil without keep-alive
	// plainFramer says that the framer is the codec's own, which may be called
	// with the open batch held; another one may take its time, or panic.
	plainFramer bool
	// requestFramer is the framer if it writes requests in one go, else nil.
	requestFramer codec.RequestFramer

	draining            atomic.Bool
	closing             atomic.Bool   // no call is taken any more; set once, by who sets why
	why                 error         // what ended the connection; set before parted is closed
	parted              chan struct{} // closed when why is known
	cut                 chan struct{} // closed right before the stream is
	done                chan struct{} // closed when everything has ended
	parts               atomic.Int32  // reader, writer and closer that have not ended
	readErr             error         // set before readOver is closed
	readOver, writeOver chan struct{} // closed when the reader, the writer has ended

	counts counts
}

// lspIDMax is the last id of a call of the LSP profile, whose integers have 32 bits;
// tests make it smaller.
var lspIDMax int64 = math.MaxInt32

// New makes a connection of stream, which it owns from then on, and starts
// reading. The error is an *OptionError; the stream is then still the caller's.
func New(stream io.ReadWriteCloser, o Options) (*Conn, error) {
	if stream == nil {
		return nil, &OptionError{Field: "stream", Value: nil, Problem: "a connection needs one"}
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Conn{
		o:         o,
		stream:    stream,
		line:      newLine(),
		room:      newRoom(o.WriteBuffer),
		parted:    make(chan struct{}),
		cut:       make(chan struct{}),
		done:      make(chan struct{}),
		readOver:  make(chan struct{}),
		writeOver: make(chan struct{}),
		scan: codec.ScanOptions{
			Profile: o.Profile, MaxDepth: o.MaxDepth, RefuseLoneSurrogates: o.RefuseLoneSurrogates, TrustBody: o.TrustBody,
		},
	}
	table, err := engine.New(engine.Options[[]byte]{
		MaxPending: o.MaxPending, Overflow: o.Overflow, MatchText: o.MatchText,
		Timeout: o.Timeout, IdleTimeout: o.IdleTimeout, Grace: o.Grace, Clock: o.Clock,
		Observer: o.Observer, OnAbandon: c.abandoned, OnPanic: o.OnPanic,
		Detach: c.results.copy, Expiring: c.expiring,
		// Servers of LSP in use read an id into 32 bits: it counts 1, 2, 3 and so on, and
		// from 1 again after two thousand million calls.
		CallerIDs: o.Profile == codec.LSP, CountMax: lspIDMax,
	})
	if err != nil {
		return nil, err
	}
	c.engine = table
	switch o.Framer.(type) {
	case codec.LineFramer, codec.HeaderFramer, codec.LengthFramer:
		c.plainFramer = true
	}
	c.requestFramer, _ = o.Framer.(codec.RequestFramer)
	c.cancels = &cancels{profile: o.Profile, framer: o.Framer, line: c.line}
	c.writer = &writer{
		to: stream, line: c.line, room: c.room, cancels: c.cancels,
		encode: c.frameRequest, dispatch: c.dispatcher(), quit: c.cut, now: TryWriterOf(stream), lone: crowdLasts,
	}
	c.hold.init(c.line, c.cancels)
	if c.writer.now != nil {
		c.line.standIn = c.writer.standIn
	}
	c.serving = serving{
		limit: o.MaxConcurrent + o.MaxQueued, bytes: int64(o.MaxQueuedBytes), inFlight: make(map[codec.ID]flight), watched: make(map[*requestContext]struct{}),
	}
	c.requests = lane{limit: o.MaxConcurrent, most: o.MaxConcurrent + o.MaxQueued, bytes: int64(o.MaxQueuedBytes), serve: c.handle}
	c.notes = lane{limit: 1, most: o.MaxQueued, bytes: int64(o.MaxQueuedBytes), serve: c.handle}
	clock := o.Clock
	if clock == nil {
		clock = engine.SystemClock()
	}
	c.watch = newKeepAlive(o.KeepAliveMethod, o.KeepAlive, o.KeepAliveTimeout, clock)
	c.parts.Store(3)
	go c.writes()
	go c.reads(c.watch.listen(stream))
	c.watch.start(c.ping, func(err error) { go c.end(err, endAtOnce) })
	return c, nil
}

// reads is the reader's goroutine. A callback that ends it by runtime.Goexit ends
// the connection, for nobody would read on.
func (c *Conn) reads(from io.Reader) {
	err := errReaderLeft
	defer c.leave()
	defer func() { c.readsOver(err) }()
	err = c.read(from)
}

var errReaderLeft = errors.New("conn: a callback ended the goroutine of the reader")

func (c *Conn) readsOver(err error) {
	if x, ok := c.stream.(explainer); ok {
		err = x.explain(err)
	} else if !isFrameError(err) && !errors.Is(err, errReaderLeft) {
		err = &PeerGone{ExitCode: -1, Err: err}
	}
	c.readErr = err
	close(c.readOver)
	c.end(err, endByPeer)
}

func isFrameError(err error) bool {
	_, ok := errors.AsType[*codec.FrameError](err)
	return ok
}

// writes is the writer's goroutine.
func (c *Conn) writes() {
	err := c.writer.run()
	close(c.writeOver)
	if err != nil {
		c.end(err, endByWrite)
	}
	c.leave()
}

// ping asks for a sign of life. It never waits: with a full buffer, silence is
// judged all the same.
func (c *Conn) ping() {
	_, _ = c.Start(background, c.watch.method, nil, CallOptions{Timeout: c.watch.limit, NoWait: true, NoCancel: true}, nil)
}

// expiring tells of what expires together. The table calls it on its driver.
func (c *Conn) expiring(on bool) {
	if on {
		c.hold.begin()
	} else {
		c.hold.end()
	}
}

// abandoned tells the peer that a call is over. The table calls it on whichever
// goroutine cancelled the call, or on its driver.
func (c *Conn) abandoned(a engine.Abandonment) {
	if !a.Sent {
		return // it will not be written either
	}
	if a.Method == methodInitialize && c.o.Profile != codec.JSONRPC {
		go c.end(ErrHandshake, endAtOnce)
		return
	}
	id, _ := a.ID.Int()
	if c.o.Profile == codec.JSONRPC || c.closing.Load() || c.feeds.quiet(id) {
		return
	}
	reason := reasonCancelled
	if a.Status == engine.Expired {
		reason = reasonTimeout
	}
	c.cancels.add(id, reason)
}
