package mcp

import (
	"encoding/json"

	"github.com/correlator-go/correlator/codec"
)

// InputRequired is the error that a handler of tools/call or prompts/get returns
// when it needs something from the client first. The client answers, and the
// handler runs again from its beginning: Request.Input has the answers,
// Request.State what State was. In the modern era the client sends the request
// again; in the older one the answers come on the connection, and the handler does
// not see the difference.
//
// What the client did not declare it can do is left out; when nothing is left the
// request fails with CodeMissingCapability.
type InputRequired struct {
	// Requests are what is asked, by a key of the handler's choice.
	Requests map[string]InputRequest
	// State is given back in the next round. It travels through the client,
	// authenticated, bound to the caller and to the request, but readable. With no
	// Requests the client is to send the request again as it is.
	State string
}

// Error says that input is required.
func (*InputRequired) Error() string { return "mcp: input required" }

// Elicit asks the user.
func Elicit(p ElicitParams) InputRequest { return inputRequest(MethodElicit, p) }

// Sample asks the client's model.
func Sample(p SamplingParams) InputRequest { return inputRequest(MethodCreateMessage, p) }

// ListRoots asks for the client's roots.
func ListRoots() InputRequest { return InputRequest{Method: MethodListRoots} }

// inputRequest encodes what cannot fail to be encoded but for a RawMessage that is
// no JSON text: then the params are missing, and the client says so.
func inputRequest(method string, params any) InputRequest {
	b, err := codec.AppendValue(nil, params)
	if err != nil {
		return InputRequest{Method: method}
	}
	return InputRequest{Method: method, Params: json.RawMessage(b)}
}
