package link

import (
	"context"
	"errors"

	"github.com/correlator-go/correlator/codec"
)

// Errors to branch on with errors.Is. Any other error of Send means that this frame
// cannot go this way, ever: it is too large for the transport, for example.
var (
	// ErrFull: the peer does not read fast enough and its byte bound is used up.
	ErrFull = errors.New("link: the peer's write buffer is full")
	// ErrDuplicate: a request with this id is in flight from this client. On a duplex
	// connection an error with that id would end the first one, so nothing is
	// answered.
	ErrDuplicate = errors.New("link: a request with this id is in flight")
	// ErrGone: the peer has gone. Receiver.Gone follows, or has been called.
	ErrGone = errors.New("link: the peer has gone")
)

// Class says what a frame is worth when a client does not keep up.
type Class uint8

const (
	// Answer ends a request. It is never dropped while the client lives.
	Answer Class = iota
	// Ask is a request or a cancel: dropping it would leave somebody waiting.
	Ask
	// Progress may be replaced by a later one about the same request.
	Progress
	// Note is any other notification: it may be dropped and counted.
	Note
)

// Frame is one message on its way out.
type Frame struct {
	// Bytes is one JSON text; to a client that is Alone none says that its batch has no
	// answers. It may hold raw newlines between tokens: a transport
	// whose frames are lines must deal with them.
	Bytes []byte
	// Edits are to be made while the bytes are copied, as codec.AppendSplice has it.
	Edits []codec.Edit
	// Call is, of a request to an upstream, the id it goes by; else 0.
	Call int64
	// About is the client's own id of the request that the frame concerns: that
	// which it answers, or whose progress it is. Absent when it concerns none, so
	// that it belongs on the session's own stream.
	About codec.ID
	// Class is what it is worth.
	Class Class
}

// AppendTo appends the frame with its edits made.
func (f *Frame) AppendTo(dst []byte) []byte { return codec.AppendSplice(dst, f.Bytes, f.Edits...) }

// Receiver takes what a transport reads. Its methods do not block; for one stream
// they are called one after the other, from several streams of a session at once.
type Receiver interface {
	// Receive takes one message, borrowed until it returns. An error says that it
	// went nowhere and is answered by nothing, ErrDuplicate for one: a transport
	// where each request has a response of its own says so there, others go on.
	Receive(b *Burst, m *codec.Message) error
	// Refused takes a frame that is no message, with what codec.Parse said of it.
	Refused(b *Burst, m *codec.Message, err error)
	// Gone says, once, that the peer has gone and why. Nothing follows it.
	Gone(err error)
}

// Owner is the Receiver of an upstream.
type Owner interface {
	Receiver
	// Dispatch is asked right before the request of a call is written, or sent,
	// whether it is still wanted, and notes that it was sent.
	Dispatch(call int64) bool
	// ReceiveFor is Receive for a message that came on the stream of a call's own, as
	// Streamable HTTP has it: a request, a log line or a notification on it concerns
	// that call and no other. Answers in it are that call's.
	ReceiveFor(call int64, b *Burst, m *codec.Message) error
	// Fail says that a call will get no answer, and why, while the way stays open.
	Fail(call int64, err error)
}

// Adopter is an Upstream that wants to know what is spoken with its server.
type Adopter interface {
	// Adopt says which revision requests are of that do not name one themselves; ""
	// says that it is not known (any more).
	Adopt(revision string)
}

// Streamer is an Upstream whose calls have streams of their own, so that
// Owner.ReceiveFor is called.
type Streamer interface {
	// Streams says so.
	Streams() bool
}

// Client is one client, or one session of a client, as its transport gives it.
type Client interface {
	// Send takes a frame, which is borrowed until it returns. Within a burst what
	// is sent may be held until the burst's Flush; b may be nil.
	Send(f *Frame, b *Burst) error
	// Queued is how many bytes wait to be written to the client, and their bound.
	Queued() (bytes, bound int64)
	// End closes the client's connection or session; why is for logs, and for the
	// client where the transport can say it. It does not wait, and Receiver.Gone
	// follows. It may be called again.
	End(why error)
	// Peer says who it is. It is the same at every call.
	Peer() Peer
}

// Forgetter is a Client that keeps something for each request until its answer was sent,
// the response of an HTTP request for one.
type Forgetter interface {
	// Forget says that a request is over and will have no answer, since its client
	// cancelled it. The client may use its id again.
	Forget(id codec.ID)
}

// Relay is a Client that is a gateway itself.
type Relay interface {
	// Fail says that a request has no answer of the server, and why, in place of an answer.
	Fail(id codec.ID, err error)
}

// Peer is who a client is.
type Peer struct {
	// Transport is "stdio", "unix", "tcp", "websocket" or "http".
	Transport string
	// Address is the remote address as far as there is one.
	Address string
	// Identity is who the client proved to be; "" is nobody.
	Identity string
	// Session is the transport's name of the session; "" where the connection is it.
	Session string
	// Alone says that the client is one exchange of Streamable HTTP of the modern
	// era, or of plain JSON-RPC over HTTP, which has nothing to do with any other.
	Alone bool
}

// Upstream is one open way to a server.
type Upstream interface {
	// Send takes a frame, which is borrowed until it returns; b as in Client.Send.
	Send(f *Frame, b *Burst) error
	// Cancel tells the server that a call which was sent is over. It neither waits
	// nor fails.
	Cancel(call int64, c Cancel)
	// End closes the way; why is for logs. It does not wait, and Owner.Gone follows.
	// It may be called again.
	End(why error)
}

// Cancel is why a call is over.
type Cancel struct {
	// Expired says that a deadline passed.
	Expired bool
	// Note is the client's own notification with its edits made known, which goes to
	// the server where cancels are messages; nil when the client sent none.
	Note *Frame
}

// Opener opens ways to one server, as often as it is asked to.
type Opener interface {
	// Open starts the child, dials or prepares. What comes in goes to owner, from
	// before Open returns. It gives up when ctx ends.
	Open(ctx context.Context, owner Owner, k Key) (Upstream, error)
	// String names the server for logs and errors, without secrets.
	String() string
}

// Key tells apart the ways to one upstream that are kept from each other. The zero
// Key is the way that all share.
type Key struct {
	// Identity is set when each identity has a way of its own, Session when each
	// session has. A client's credentials are no part of it: they are not passed on.
	Identity, Session string
}
