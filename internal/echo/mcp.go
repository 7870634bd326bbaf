package echo

import (
	"bytes"

	"github.com/correlator-go/correlator/codec"
)

// The results of the handshake. Version 2025-11-25 is what initialize settles
// on whatever the client asks for: the client decides whether it can go on.
const (
	resultInitialize = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"correlator-echo","version":"1"}}`
	resultDiscover   = `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"correlator-echo","version":"1"}}}`
	resultTools = `{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[{"name":"echo","description":"Answers with its message",` +
		`"inputSchema":{"type":"object","properties":{"message":{"type":"string"}}}}]}`
)

// appendMCP appends the unframed answer to m as a small MCP server gives it.
// Members of the 2026-07-28 revision are present in both eras: an older client
// ignores them.
func (s *server) appendMCP(dst []byte, m *codec.Message) []byte {
	switch method := m.Method(); string(method) {
	case "server/discover":
		if s.o.Discover {
			return codec.AppendResult(dst, m.RawID(), []byte(resultDiscover))
		}
		return s.refuse(dst, m, codec.CodeMethodNotFound, "no such method: server/discover")
	case "initialize":
		return codec.AppendResult(dst, m.RawID(), []byte(resultInitialize))
	case "ping":
		return codec.AppendResult(dst, m.RawID(), []byte("{}"))
	case "tools/list":
		return codec.AppendResult(dst, m.RawID(), []byte(resultTools))
	case "tools/call":
		return s.callTool(dst, m)
	default:
		return s.refuse(dst, m, codec.CodeMethodNotFound, "no such method: "+string(method))
	}
}

// callTool runs the only tool there is, echo: its text is "Echo: " and the
// argument message, as the reference server's tool of that name answers.
func (s *server) callTool(dst []byte, m *codec.Message) []byte {
	var call struct {
		Name      string `json:"name"`
		Arguments struct {
			Message string `json:"message"`
		} `json:"arguments"`
	}
	if err := codec.DecodeValue(m.Params(), &call); err != nil {
		return s.refuse(dst, m, codec.CodeInvalidParams, "params of tools/call cannot be read")
	}
	if call.Name != "echo" {
		return s.refuse(dst, m, codec.CodeInvalidParams, "unknown tool: "+call.Name)
	}
	var result bytes.Buffer
	result.WriteString(`{"resultType":"complete","content":[{"type":"text","text":`)
	result.Write(codec.AppendString(nil, "Echo: "+call.Arguments.Message))
	result.WriteString(`}]}`)
	return codec.AppendResult(dst, m.RawID(), result.Bytes())
}

func (s *server) refuse(dst []byte, m *codec.Message, code int64, message string) []byte {
	s.n.Refused++
	return codec.AppendError(dst, m.RawID(), &codec.Error{Code: code, Message: message})
}
