package upstream

import (
	"bytes"
	"encoding/json"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// headers are those that a call of a tool wants, as the server's lists had it. The error is
// codec.ErrDuplicateMember, where an argument that is repeated in one stands twice. What
// else is wrong with its arguments is the server's to say.
func (h *httpOpener) headers(method string, frame []byte) ([]mcp.ParamHeader, error) {
	if method != mcp.MethodCallTool {
		return nil, nil
	}
	m, err := codec.Parse(frame, codec.ScanOptions{MaxDepth: h.o.Wire.MaxDepth})
	if err != nil {
		return nil, nil //nolint:nilerr // it was parsed before
	}
	schema, arguments, err := h.tools.Of("", &m)
	if schema == nil {
		return nil, err
	}
	headers, err := mcp.ParamHeaders(schema, arguments)
	if err != nil {
		return nil, nil //nolint:nilerr // the schema marks a property wrongly, so there are none
	}
	return headers, nil
}

// revisionOf is the revision that a modern request names itself; "" if it names none.
func revisionOf(m *codec.Message) mcp.Revision {
	if !bytes.Contains(m.Params(), []byte(mcp.MetaProtocolVersion)) {
		return ""
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var version mcp.Revision
	if codec.DecodeValue(m.Params(), &p) != nil || codec.DecodeValue(p.Meta[mcp.MetaProtocolVersion], &version) != nil {
		return ""
	}
	return version
}
