package gateway

import (
	"github.com/correlator-go/correlator/codec"
)

// Router says where a client's request goes. It is asked on the client's reader: it
// must not block. Package merge has one that goes by prefixes.
type Router interface {
	// Route decides about m, a request. What d refers to may lie in m. Notifications
	// need no router: each belongs to a request, or to all servers.
	Route(s *Session, m *codec.Message, d *Decision)
}

// Decision is what becomes of a request. A Router fills in one of Upstream, Answer,
// Refusal and Take.
type Decision struct {
	// Upstream is the name of the server.
	Upstream string
	// Edits are to be made beside those of ids and tokens, in the order of the frame;
	// params.name without its prefix, for example.
	Edits []codec.Edit
	// Answer is the result, if the gateway knows it.
	Answer []byte
	// Refusal is why there is none.
	Refusal *codec.Error
	// Take gets the call once it is in flight, to be answered by reply, now or later. It
	// is asked on the client's reader and must not block.
	Take func(reply Reply)
}

// Reply ends a call that a router took: with failed, or with result, which is a JSON
// text. Both are borrowed until it returns. False says that the call is over, since it
// was cancelled, for example; then nothing is sent.
type Reply func(result []byte, failed *codec.Error) bool
