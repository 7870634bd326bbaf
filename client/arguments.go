package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// argumentsText encodes the arguments of a tool, which must be an object.
func argumentsText(arguments any) ([]byte, error) {
	if arguments == nil {
		return nil, nil
	}
	text, err := codec.AppendValue(nil, arguments)
	if err != nil {
		return nil, fmt.Errorf("client: %s: arguments: %w", mcp.MethodCallTool, err)
	}
	text = bytes.TrimSpace(text)
	if string(text) == "null" {
		return nil, nil
	}
	if len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("client: %s: arguments: %w", mcp.MethodCallTool, codec.ErrNotObject)
	}
	return text, nil
}

// MaxToolSchemas is how many tools' schemas a client over HTTP keeps, for the
// headers that repeat arguments. A tool beyond it is called without them, and
// listed again when the server wants them.
const MaxToolSchemas = 4096

// toolSchemas are the input schemas of listed tools that repeat arguments in
// headers.
type toolSchemas struct {
	mu     sync.Mutex
	schema map[string]json.RawMessage
}

// learn keeps the schemas of a page of tools, and gives the tools that may be used.
func (s *toolSchemas) learn(tools []mcp.Tool, headed bool) []mcp.Tool {
	if !headed {
		return tools
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	usable := tools[:0]
	for _, t := range tools {
		delete(s.schema, t.Name)
		if !bytes.Contains(t.InputSchema, []byte("x-mcp-header")) {
			usable = append(usable, t)
			continue
		}
		if _, err := mcp.ParamHeaders(t.InputSchema, nil); err != nil {
			continue
		}
		usable = append(usable, t)
		if s.schema == nil {
			s.schema = map[string]json.RawMessage{}
		}
		if len(s.schema) < MaxToolSchemas {
			s.schema[t.Name] = t.InputSchema
		}
	}
	return usable
}

func (s *toolSchemas) of(name string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.schema[name]
}

// headed reports whether requests repeat themselves in headers.
func (c *Client) headed() bool {
	_, http := c.transport.(HTTP)
	return http && c.Revision().IsModern()
}

// paramHeaders are the headers that repeat arguments of the tool, as far as its
// schema is known.
func (c *Client) paramHeaders(name string, arguments []byte) ([]mcp.ParamHeader, error) {
	if !c.headed() {
		return nil, nil
	}
	schema := c.tools.of(name)
	if schema == nil {
		return nil, nil
	}
	if arguments == nil {
		arguments = []byte("{}")
	}
	headers, err := mcp.ParamHeaders(schema, arguments)
	if err != nil {
		return nil, fmt.Errorf("client: %s: %q: %w", mcp.MethodCallTool, name, err)
	}
	return headers, nil
}
