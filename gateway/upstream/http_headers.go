package upstream

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// maxSchemas is how many tools' schemas are kept for the headers that repeat
// arguments; a tool beyond it is called without them.
const maxSchemas = 4096

// headerMark is the member of a schema that wants an argument repeated in a header.
const headerMark = "x-mcp-header"

// schemas are the input schemas of tools that want arguments repeated in headers, as
// the server's lists had them. It is safe for concurrent use.
type schemas struct {
	mu sync.Mutex // guards of
	of map[string]json.RawMessage
}

// learn looks into the result of tools/list.
func (s *schemas) learn(result []byte) {
	if !bytes.Contains(result, []byte(headerMark)) {
		return
	}
	var page struct {
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if codec.DecodeValue(result, &page) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range page.Tools {
		delete(s.of, t.Name)
		if !bytes.Contains(t.InputSchema, []byte(headerMark)) || len(s.of) >= maxSchemas {
			continue
		}
		if s.of == nil {
			s.of = make(map[string]json.RawMessage)
		}
		s.of[t.Name] = bytes.Clone(t.InputSchema)
	}
}

// headers are those that a request wants. What is wrong with its arguments is the
// server's to say.
func (s *schemas) headers(method string, frame []byte) []mcp.ParamHeader {
	if method != mcp.MethodCallTool {
		return nil
	}
	s.mu.Lock()
	none := len(s.of) == 0
	s.mu.Unlock()
	if none {
		return nil
	}
	m, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil {
		return nil
	}
	var name string
	var params map[string]json.RawMessage // a struct would take Arguments, too, which is another member
	if codec.DecodeValue(m.Name(), &name) != nil || codec.DecodeValue(m.Params(), &params) != nil {
		return nil
	}
	s.mu.Lock()
	schema := s.of[name]
	s.mu.Unlock()
	if schema == nil {
		return nil
	}
	arguments := params["arguments"]
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	headers, err := mcp.ParamHeaders(schema, arguments)
	if err != nil {
		return nil
	}
	return headers
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
