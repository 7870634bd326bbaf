package downstream

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// isModernInitialize reports whether a message says that it is of the modern era, which
// has no such method. All else that says so never comes to a session.
func isModernInitialize(m *codec.Message) bool {
	return m != nil && string(m.Method()) == mcp.MethodInitialize && bytes.Contains(m.Params(), []byte(mcp.MetaProtocolVersion))
}

// unfit says what is wrong with a request of the modern era over HTTP, which every
// server refuses in the same way; nil is fit. It is refused here since MCP names an
// HTTP status for it, and a server's error alone does not tell that it is this one.
func unfit(m *codec.Message) (refusal *codec.Error, status int) {
	var params struct {
		Meta *struct {
			Version      json.RawMessage `json:"io.modelcontextprotocol/protocolVersion"`
			Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	problem := ""
	switch err := codec.DecodeValue(m.Params(), &params); {
	case err != nil || params.Meta == nil:
		problem = "params must be an object with _meta"
	case !bytes.HasPrefix(params.Meta.Version, []byte(`"`)):
		problem = "_meta has no protocol version"
	case !bytes.HasPrefix(params.Meta.Capabilities, []byte(`{`)):
		problem = "_meta has no client capabilities"
	}
	if problem != "" {
		return &codec.Error{Code: codec.CodeInvalidParams, Message: "Invalid params: " + problem}, http.StatusBadRequest
	}
	switch string(m.Method()) {
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		return &codec.Error{Code: codec.CodeMethodNotFound, Message: "Method not found"}, http.StatusNotFound
	}
	return nil, 0
}
