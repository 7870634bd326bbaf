package gosdk

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// link is one connection. go-sdk reads it with one goroutine and writes it with
// many.
type link struct {
	stream io.ReadWriteCloser
	from   *source
	frames *codec.Reader
	writer *writer
	o      Options

	once   sync.Once
	closed atomic.Bool

	aliased atomic.Bool // an id was given out under an alias; see alias

	unreadable, tooLarge, batches, noID, dropped atomic.Uint64
}

var _ mcp.Connection = (*link)(nil)

func newLink(stream io.ReadWriteCloser, o Options) *link {
	if o.MaxDepth == 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	switch {
	case o.WriteBuffer == 0:
		o.WriteBuffer = conn.DefaultWriteBuffer
	case o.WriteBuffer < 0:
		o.WriteBuffer = 1<<31 - 1
	}
	from := &source{from: stream}
	return &link{
		stream: stream, o: o, from: from, writer: newWriter(stream, o.WriteBuffer),
		frames: codec.NewReader(from, codec.ReaderOptions{MaxFrame: o.MaxFrame, Scan: codec.ScanOptions{MaxDepth: o.MaxDepth}}),
	}
}

// SessionID is empty: a stream has no session id.
func (l *link) SessionID() string { return "" }

// Close ends the connection; a child process is gone when it returns.
func (l *link) Close() error {
	l.closed.Store(true)
	l.once.Do(func() {
		l.writer.close()
		_ = l.stream.Close()
	})
	return nil
}

// Read gives the next message. What is no message is dealt with and passed over.
func (l *link) Read(ctx context.Context) (jsonrpc.Message, error) {
	var m codec.Message
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := l.frames.ReadMessage(&m)
		var next jsonrpc.Message
		switch {
		case err == nil:
			next, err = l.message(&m)
			if err != nil {
				return nil, err
			}
		case !codec.Recoverable(err):
			return nil, l.ended(err)
		case isBatch(err):
			l.batches.Add(1)
			l.stray(conn.StrayBatch, m.Frame(), len(m.Frame()), nil)
		default:
			next = l.refused(&m, err)
		}
		if next != nil {
			return next, nil
		}
	}
}

// isBatch tells a frame that is an array from one that holds one in a wrong place.
func isBatch(err error) bool {
	_, syntax := errors.AsType[*codec.SyntaxError](err)
	return errors.Is(err, codec.ErrBatch) && !syntax
}

// source keeps what the stream said of its end, which may be more than that it
// ended.
type source struct {
	from io.Reader
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.err = err
	return n, err
}

// ended is the error that go-sdk gets for the end of the stream: what the stream
// said, unless that is only that we closed it.
func (l *link) ended(err error) error {
	if gone, ok := errors.AsType[*conn.PeerGone](l.from.err); ok {
		return gone
	}
	if l.closed.Load() {
		return io.EOF
	}
	return err
}

// Write writes msg and returns when it is written, or ctx has ended; then it may
// still be written, whole.
func (l *link) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	scratch := scratches.Get().(*[]byte)
	defer keepScratch(scratch)
	frame, err := l.appendMessage((*scratch)[:0], msg)
	if err != nil {
		return err
	}
	*scratch = frame
	return l.writer.write(ctx, frame) // which copies it
}

// scratches holds buffers that one frame is built in.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

func keepScratch(buf *[]byte) {
	if cap(*buf) <= spareBytes {
		scratches.Put(buf)
	}
}

func (l *link) stray(reason conn.StrayReason, frame []byte, size int, err error) {
	if l.o.OnStray == nil {
		return
	}
	l.o.OnStray(conn.Stray{Reason: reason, Frame: frame[:min(len(frame), conn.StrayBytes)], Size: size, Err: err})
}

// refused deals with a frame that is no message. A request that can be named is
// refused by its name; for an answer that can be named a failed one is returned,
// since its call will get no other.
func (l *link) refused(m *codec.Message, err error) jsonrpc.Message {
	reason, frame, size := conn.StrayUnreadable, m.Frame(), len(m.Frame())
	id, _ := codec.ParseID(m.RawID(), codec.MCP)
	method := m.Envelope.Method.Present()
	failure := &codec.Error{Code: codec.CodeInvalidRequest, Message: "frame too large"}
	if cut, ok := errors.AsType[*codec.FrameError](err); ok {
		reason, frame, size = conn.StrayTooLarge, cut.Prefix, int(min(cut.Size, 1<<31-1))
		begin, _ := codec.Parse(frame, codec.ScanOptions{TrustBody: true})
		method = begin.Envelope.Method.Present()
		id, _ = codec.PeekID(frame, codec.MCP)
		l.tooLarge.Add(1)
	} else {
		l.unreadable.Add(1)
	}
	if e, ok := errors.AsType[*codec.SyntaxError](err); ok {
		failure.Code, failure.Message = int64(e.Code), e.Problem
	}
	l.stray(reason, frame, size, err)
	switch {
	case id.Kind() < codec.IDInt:
		return nil
	case method:
		failure.Message = "invalid request: " + failure.Message
		if !l.writer.tryWrite(codec.AppendError(nil, id.Append(nil), failure)) {
			l.dropped.Add(1)
		}
		return nil
	}
	known, err := l.idOf(id)
	if err != nil {
		return nil
	}
	return &jsonrpc.Response{ID: known, Error: &jsonrpc.Error{Code: failure.Code, Message: "invalid answer: " + failure.Message}}
}
