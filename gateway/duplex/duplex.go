package duplex

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/link"
)

// Link is one duplex connection. It implements link.Client and link.Upstream.
type Link struct {
	conn  *conn.Conn
	peer  link.Peer
	bound int64
	in    inbound
	held  link.Held
	end   sync.Once
	// stream is closed when the connection takes longer than patience to end.
	stream   io.Closer
	patience time.Duration
}

var (
	_ link.Client   = (*Link)(nil)
	_ link.Upstream = (*Link)(nil)
)

// inbound is the link's relay, apart from Link so that its methods are no part of
// what callers see.
type inbound struct {
	burst    link.Burst
	receiver link.Receiver
	dispatch func(call int64) bool
	ending   func() <-chan struct{}
	joined   atomic.Bool   // receiver is set; spares a look at ready
	ready    chan struct{} // closed when receiver is set
}

func (i *inbound) await() {
	if !i.joined.Load() {
		<-i.ready
	}
}

// Options of a link.
type Options struct {
	// Conn are those of the connection. Relay and OnClose are the link's.
	Conn conn.Options
	// Peer is what Link.Peer says.
	Peer link.Peer
	// Ending gives a channel that is closed when nothing more is owed to a peer that
	// has closed its side; nil closes at once.
	Ending func() <-chan struct{}
	// Closed is called once, after Gone, with why the connection ended.
	Closed func(err error)
	// EndTimeout bounds how long End lets what is queued go out, to a peer that may read
	// nothing any more. Zero is conn.DefaultCloseTimeout; Conn.CloseTimeout may be longer,
	// for peers that have closed their side. It holds for Over alone.
	EndTimeout time.Duration
}

// Open makes a link of whatever connects gives, and returns it after join told who
// receives. Nothing is received before that, and join must send nothing.
func Open(connect func(conn.Options) (*conn.Conn, error), o Options, join func(*Link) link.Receiver) (*Link, error) {
	l := &Link{peer: o.Peer}
	l.in.ready, l.in.ending = make(chan struct{}), o.Ending
	o.Conn.Relay = &l.in
	var begun sync.WaitGroup
	begun.Add(1)
	o.Conn.OnClose = func(err error) {
		begun.Wait()
		l.in.await()
		if l.in.receiver != nil {
			l.in.receiver.Gone(err)
		}
		if o.Closed != nil {
			o.Closed(err)
		}
	}
	c, err := connect(o.Conn)
	if err != nil {
		begun.Done()
		close(l.in.ready)
		return nil, err
	}
	l.conn, l.bound = c, int64(o.Conn.WriteBuffer)
	if l.bound == 0 {
		l.bound = conn.DefaultWriteBuffer
	}
	l.held.Init(c.Nudge)
	begun.Done()
	r := join(l)
	if owner, ok := r.(link.Owner); ok {
		l.in.dispatch = owner.Dispatch
	}
	l.in.receiver = r
	l.in.joined.Store(true)
	close(l.in.ready)
	return l, nil
}

// Over makes a link of a stream, which it owns from then on.
func Over(stream io.ReadWriteCloser, o Options, join func(*Link) link.Receiver) (*Link, error) {
	if o.EndTimeout == 0 {
		o.EndTimeout = conn.DefaultCloseTimeout
	}
	return Open(func(o conn.Options) (*conn.Conn, error) { return conn.New(stream, o) }, o, func(l *Link) link.Receiver {
		l.stream, l.patience = stream, o.EndTimeout
		return join(l)
	})
}

// Send implements link.Client and link.Upstream.
func (l *Link) Send(f *link.Frame, b *link.Burst) error {
	err := l.conn.SendFrame(&conn.RelayFrame{Bytes: f.Bytes, Edits: f.Edits, Call: f.Call, Held: b != nil})
	switch {
	case err == nil:
		if b != nil {
			b.Hold(&l.held)
		}
		return nil
	case errors.Is(err, conn.ErrFull):
		return link.ErrFull
	case errors.Is(err, conn.ErrClosed):
		return link.ErrGone
	}
	return err
}

// Cancel implements link.Upstream. The client's own words are passed on.
func (l *Link) Cancel(call int64, c link.Cancel) {
	if c.Note == nil || l.Send(c.Note, nil) != nil {
		l.conn.SendCancel(call, c.Expired)
	}
}

// End implements link.Client and link.Upstream.
func (l *Link) End(error) { l.end.Do(func() { go l.close() }) }

func (l *Link) close() {
	if l.stream != nil {
		late := time.AfterFunc(l.patience, func() { _ = l.stream.Close() })
		defer late.Stop()
	}
	_ = l.conn.Close()
}

// Queued implements link.Client.
func (l *Link) Queued() (bytes, bound int64) { return l.conn.Queued(), l.bound }

// Peer implements link.Client.
func (l *Link) Peer() link.Peer { return l.peer }

// Conn is the connection itself, for its counters and its end.
func (l *Link) Conn() *conn.Conn { return l.conn }

// Done is closed when the connection has ended and Gone has returned.
func (l *Link) Done() <-chan struct{} { return l.conn.Done() }

// Receive implements conn.Relay.
func (i *inbound) Receive(m *codec.Message) {
	i.await()
	_ = i.receiver.Receive(&i.burst, m) // counted there; nothing may be answered
}

// Refused implements conn.Relay.
func (i *inbound) Refused(m *codec.Message, err error) {
	i.await()
	i.receiver.Refused(&i.burst, m, err)
}

// Flush implements conn.Relay.
func (i *inbound) Flush() { i.burst.Flush() }

// Ending implements conn.Relay.
func (i *inbound) Ending() <-chan struct{} {
	i.await()
	if i.ending == nil {
		return nil
	}
	return i.ending()
}

// Dispatch implements conn.Relay.
func (i *inbound) Dispatch(call int64) bool {
	i.await()
	return i.dispatch == nil || i.dispatch(call)
}
