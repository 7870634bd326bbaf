package serve

import (
	"context"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// Backend is what a front end of HTTP brings messages to. *Server is one. Another
// one, with [NewHTTP], puts Streamable HTTP before whatever answers messages: a
// program that passes them on to other servers, for example.
type Backend interface {
	// Open begins a connection, whose frames go to out from then on, though not
	// before Open has returned. ctx gives values; its end means nothing. An error
	// refuses the HTTP request with status 503.
	Open(ctx context.Context, o Opening, out Outlet) (Peer, error)
}

// Opening says what a connection is for.
type Opening struct {
	// Caller is who the first HTTP request came from. In the older era all others
	// have the same Principal.
	Caller mcp.Caller
	// Session is the id of a session of the older era, a secret; "" is one request of
	// the modern era, which has a connection to itself.
	Session string
}

// Peer is one connection of a Backend. Its methods are safe for concurrent use, and
// do not wait for answers.
type Peer interface {
	// Receive takes what one HTTP request brought, borrowed until it returns. An
	// error says that it went nowhere and nothing was written: ErrDuplicateID,
	// ErrTooManyLive, or another one for a connection that has ended.
	Receive(in *Incoming) error
	// Revision is what initialize agreed on: "" before that, when it failed, and in
	// the modern era. It is set before the answer to initialize is written.
	Revision() mcp.Revision
	// Live is how many requests are not answered; a session that has some is kept.
	Live() int
	// CloseExchange says that the client of a request of the modern era has gone:
	// it is cancelled. In the older era a client that goes has cancelled nothing.
	CloseExchange(x mcp.ExchangeID)
	// Close ends the connection: the client, or the time, has ended its session, or
	// its request is over. Outlet.Ended follows, on any goroutine. It may be called
	// again.
	Close()
}

// Incoming is what one HTTP request brought.
type Incoming struct {
	// Exchange names what is written in answer to it. It is above 0.
	Exchange mcp.ExchangeID
	// Message is the message; of a batch only its Frame, which is an array, is good.
	Message *codec.Message
	Batch   bool
	// IDs are those of the requests in it. Repeats says that one stands there twice.
	IDs     []codec.ID
	Repeats bool
	// Caller is who sent this one.
	Caller mcp.Caller
	// Correlation is the value of X-Correlation-Id, or a fresh one.
	Correlation string
	// Headers are those of the modern era, which have to agree with the message; nil
	// in the older one.
	Headers *mcp.Headers
}

// Outlet is where the frames of a connection go. Its methods never wait, and are
// safe for concurrent use.
type Outlet interface {
	// Write takes a frame for an exchange; 0 is the session's own stream. An error,
	// ErrSlowSubscriber or ErrExchangeClosed, says that it was not taken, and that
	// no answer of that exchange will reach anybody; Outgoing.Ack is not called then.
	Write(x mcp.ExchangeID, f Outgoing) error
	// Close says that nothing follows on an exchange. Every exchange that a request
	// came on wants it, after its answer.
	Close(x mcp.ExchangeID)
	// Waiting is how many bytes are kept for the client. Of them Options.WriteBuffer
	// bounds those that wait to be written.
	Waiting() int64
	// Ended says, once, that the connection has ended, whoever ended it. It is called
	// under no lock that a method of Peer takes.
	Ended()
}

// Outgoing is a frame for a client.
type Outgoing struct {
	// Frame is one JSON text without raw newlines. It is kept, and must not change.
	Frame []byte
	// Final says that it is the answer, which is taken however much waits.
	Final bool
	// Status is the HTTP status of an answer that is a response of its own. Zero is
	// 200.
	Status int
	// Ack, unless nil, is called once: when the frame was written, or with why it was
	// not. Nil costs nothing.
	Ack func(error)
}

// Open implements Backend.
func (s *Server) Open(ctx context.Context, o Opening, out Outlet) (Peer, error) {
	to := &httpOutlet{out: out, watch: o.Session != ""}
	c, err := s.open(ctx, o.Caller, to)
	if err != nil {
		return nil, err
	}
	return httpPeer{c}, nil
}

// httpPeer is a connection as a Peer.
type httpPeer struct{ *Connection }

var _ Peer = httpPeer{}

// Receive implements Peer.
func (p httpPeer) Receive(in *Incoming) error {
	d := delivery{
		exchange: in.Exchange, frame: in.Message.Frame(), ids: in.IDs, repeats: in.Repeats,
		caller: in.Caller, correlation: in.Correlation, headers: in.Headers,
	}
	if !in.Batch {
		d.envelope = &in.Message.Envelope
	}
	return p.receive(&d)
}

// Revision implements Peer.
func (p httpPeer) Revision() mcp.Revision { return p.revision() }

// httpOutlet takes the effects of a connection to an Outlet.
type httpOutlet struct {
	out   Outlet
	conn  *Connection
	watch bool // the peer's ids name requests of one session
}

var _ outlet = (*httpOutlet)(nil)

func (h *httpOutlet) bind(c *Connection) {
	h.conn = c
	if h.watch {
		c.watchIDs()
	}
}

func (h *httpOutlet) ended() { h.out.Ended() }

func (h *httpOutlet) write(x mcp.ExchangeID, e *mcp.Effect, ack func(error)) error {
	return h.out.Write(x, Outgoing{Frame: e.Frame, Final: e.Final, Status: statusOf(e), Ack: ack})
}

func (h *httpOutlet) close(x mcp.ExchangeID) { h.out.Close(x) }

func (h *httpOutlet) full(int) (<-chan struct{}, bool) { return nil, false }

func (h *httpOutlet) waiting() int64 { return h.out.Waiting() }

func (h *httpOutlet) fail(error) { h.conn.Close() }

// session is the one of HTTP's older era that the connection belongs to, nil without.
func (c *Connection) session() *session {
	over, ok := c.out.(*httpOutlet)
	if !ok {
		return nil
	}
	s, _ := over.out.(*session)
	return s
}
