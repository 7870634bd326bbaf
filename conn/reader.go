package conn

import (
	"errors"
	"io"

	"github.com/correlator-go/correlator/codec"
)

// read is the one goroutine that reads. Nothing in it waits: answers settle
// calls, requests go to a queue, callbacks run here but must not block. It
// returns what ended the stream.
func (c *Conn) read(from io.Reader) error {
	tally := &tally{from: from, lazy: LazyReaderOf(from), counts: &c.counts, line: c.line, partial: partial{ask: c.o.Partial, most: int64(c.o.MaxFrame)}}
	defer tally.partial.whole()
	if c.o.Relay != nil {
		tally.flush = func() { c.guard(c.o.Relay.Flush) }
	}
	frames := c.frames(tally)
	var m codec.Message
	for {
		err := frames.ReadMessage(&m)
		if tally.partial.read != 0 {
			tally.partial.whole()
		}
		switch {
		case err == nil:
			if tally.frames++; tally.frames%nudgeFrames == 0 {
				c.line.nudge()
				if tally.flush != nil {
					tally.flush()
				}
			}
			if c.o.Relay != nil {
				c.relayed(&m, nil)
			} else {
				c.route(&m, nil)
			}
		case !codec.Recoverable(err):
			tally.publish()
			if tally.flush != nil {
				tally.flush()
			}
			return err
		case c.o.Relay != nil:
			c.relayed(&m, err)
		case errors.Is(err, codec.ErrBatch) && isArray(err):
			c.batched(m.Frame())
		default:
			c.unreadable(&m, err)
		}
	}
}

// frames makes the codec's reader. It is apart from read, whose stack waits for the
// peer for hours, so that the options do not lie on that: with them it is just above
// the size at which the runtime halves an idle stack, which is 4 KiB for a connection.
//
//go:noinline
func (c *Conn) frames(from *tally) *codec.Reader {
	return codec.NewReader(from, codec.ReaderOptions{
		Framer: c.o.Framer, MaxFrame: c.o.MaxFrame, ChunkSize: c.o.ChunkSize, Scan: c.scan,
		OneGoroutine: true,
	})
}

const (
	// nudgeFrames is after how many answers of a burst the calls that followed
	// are written. With 64 a peer on the other core is woken for too little: 1.66M
	// calls from callbacks a second against 2.09M with 256, and no more with 512.
	nudgeFrames = 256
	// corkBytes is from how many bytes on a read may hold a burst: fewer are a
	// handful of answers, after which the reader would uncork at once.
	corkBytes = 1 << 10
)

// tally is what the codec reads from. The codec asks for more when all it had was
// handed out, so that is where a burst ends and the next begins.
type tally struct {
	from          io.Reader
	lazy          codec.LazyReader // from, if it can wait without a buffer
	counts        *counts
	line          *line
	frames, bytes uint64
	flush         func() // of the relay, nil without one
	partial       partial
}

var _ codec.LazyReader = (*tally)(nil)

// Read is ReadLazily of a buffer that is there already.
func (t *tally) Read(p []byte) (int, error) {
	t.before()
	return t.after(t.from.Read(p))
}

// ReadLazily implements codec.LazyReader.
func (t *tally) ReadLazily(from codec.Lender) (int, error) {
	t.before()
	if t.lazy == nil {
		return t.after(t.from.Read(from.Lend()))
	}
	return t.after(t.lazy.ReadLazily(from))
}

// before ends a burst, and after begins the next.
func (t *tally) before() {
	t.publish()
	t.line.uncork(readerCork)
	if t.flush != nil {
		t.flush()
	}
}

func (t *tally) after(n int, err error) (int, error) {
	t.bytes = uint64(n)
	if t.partial.ask != nil {
		if refused := t.partial.more(n); refused != nil {
			return n, refused
		}
	}
	if n >= corkBytes {
		t.line.cork(readerCork)
	}
	return n, err
}

func (t *tally) publish() {
	t.counts.framesIn.Add(t.frames)
	t.counts.bytesIn.Add(t.bytes)
	t.frames, t.bytes = 0, 0
}

// isArray tells a frame that is an array from one that holds one in a wrong
// place, which is a *codec.SyntaxError.
func isArray(err error) bool {
	_, syntax := errors.AsType[*codec.SyntaxError](err)
	return !syntax
}

func emptyBatch(err error) bool { return errors.Is(err, codec.ErrBatch) }

// route sends one message where it belongs. b is the array that it came in.
func (c *Conn) route(m *codec.Message, b *batchAnswer) {
	switch m.Kind {
	case codec.KindResult:
		c.resolved(m)
	case codec.KindError:
		c.rejected(m)
	case codec.KindNotification:
		c.notified(m, b)
	case codec.KindRequest:
		c.requested(m, b)
	}
}

func (c *Conn) resolved(m *codec.Message) {
	if m.IDKind <= codec.IDNull {
		c.withoutID(m)
		return
	}
	id := m.ID()
	c.feeds.answered(id)
	if !c.engine.Resolve(id, m.Result()) {
		c.stray(StrayUnmatched, m.Frame(), len(m.Frame()), nil)
	}
}

func (c *Conn) rejected(m *codec.Message) {
	if m.IDKind <= codec.IDNull {
		c.withoutID(m)
		return
	}
	id := m.ID()
	c.feeds.answered(id)
	if !c.engine.Reject(id, m.Err()) {
		c.stray(StrayUnmatched, m.Frame(), len(m.Frame()), nil)
	}
}

func (c *Conn) withoutID(m *codec.Message) {
	c.counts.noID.Add(1)
	c.stray(StrayNoID, m.Frame(), len(m.Frame()), nil)
}

// unreadable deals with a frame that is no message. A request that can be named
// is refused by its name. An answer that can be named fails its call, which
// nobody else will ever answer. Anything else is dropped.
func (c *Conn) unreadable(m *codec.Message, err error) {
	reason, frame, size := StrayUnreadable, m.Frame(), len(m.Frame())
	rawID, method := m.RawID(), m.Envelope.Method.Present()
	id := codec.ID{}
	if cut, ok := errors.AsType[*codec.FrameError](err); ok {
		reason, frame = StrayTooLarge, cut.Prefix
		size = int(min(cut.Size, 1<<31-1))
		begin, _ := codec.Parse(frame, codec.ScanOptions{Profile: c.o.Profile, TrustBody: true})
		method = begin.Envelope.Method.Present()
		id, _ = codec.PeekID(frame, c.o.Profile)
		rawID = id.Append(nil)
		c.counts.tooLarge.Add(1)
	} else {
		id, _ = codec.ParseID(rawID, c.o.Profile)
		c.counts.unreadable.Add(1)
	}
	c.stray(reason, frame, size, err)
	named := id.Kind() >= codec.IDInt
	switch {
	case method && named && c.serving.has(id):
		// The error would end the other request of that name at the peer.
	case method && named, c.o.AnswerUnreadable:
		c.answerNow(c.idOr(rawID), refusal(err))
	case named:
		c.engine.Reject(id, &invalidAnswer{err})
	}
}

// refusal is what the peer is told about a frame that is no message.
func refusal(err error) *codec.Error {
	if e, ok := errors.AsType[*codec.SyntaxError](err); ok {
		text := "parse error"
		if e.Code == codec.CodeInvalidRequest {
			text = "invalid request"
		}
		return &codec.Error{Code: int64(e.Code), Message: text + ": " + e.Problem}
	}
	return &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: frame too large"}
}

// noID is the id of an answer to something that has none: no member in MCP,
// whose schema forbids null, null elsewhere.
func (c *Conn) noID() []byte {
	if c.o.Profile == codec.MCP {
		return nil
	}
	return []byte("null")
}

func (c *Conn) idOr(rawID []byte) []byte {
	if len(rawID) == 0 {
		return c.noID()
	}
	return rawID
}
