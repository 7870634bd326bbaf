package gateway

import (
	"github.com/correlator-go/correlator/codec"
)

// Router says where a client's request goes. It is asked on the client's reader: it
// must not block. Package merge has one that goes by prefixes.
type Router interface {
	// Route decides about m, a request or a notification that is no cancel. What d
	// refers to may lie in m.
	Route(s *Session, m *codec.Message, d *Decision)
}

// Decision is what becomes of a request. A Router fills in one of Upstream, Answer and
// Refusal, or calls Ask and answers later.
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
	// Taken says that the router answers by itself, by Session.Answer.
	Taken bool
}
