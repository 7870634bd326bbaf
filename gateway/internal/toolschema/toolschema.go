package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// Max is how many tools' schemas are kept; a tool beyond it goes without.
const Max = 4096

// mark is the member of a schema that wants an argument repeated in a header.
const mark = "x-mcp-header"

// Schemas are those of the tools of one server, as its lists had them, for each who sees
// tools of its own. The zero value knows none. It is safe for concurrent use.
type Schemas struct {
	mu sync.Mutex // guards of
	of map[tool]json.RawMessage
}

type tool struct{ who, name string }

// Learn looks into the result of tools/list that who got.
func (s *Schemas) Learn(who string, result []byte) {
	if !bytes.Contains(result, []byte(mark)) && s.none() {
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
		key := tool{who, t.Name}
		delete(s.of, key)
		if !bytes.Contains(t.InputSchema, []byte(mark)) || len(s.of) >= Max {
			continue
		}
		if s.of == nil {
			s.of = make(map[tool]json.RawMessage)
		}
		s.of[key] = bytes.Clone(t.InputSchema)
	}
}

func (s *Schemas) none() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.of) == 0
}

// Of gives the schema and the arguments of a call of who's; nil, if it is no call, or of
// no tool that wants headers. The error is codec.ErrDuplicateMember, where the arguments,
// or one that a header repeats, stand twice: what is compared with the header need not be
// what the tool takes.
func (s *Schemas) Of(who string, m *codec.Message) (schema, arguments []byte, err error) {
	if string(m.Method()) != mcp.MethodCallTool || s.none() {
		return nil, nil, nil
	}
	var name string
	if codec.DecodeValue(m.Name(), &name) != nil {
		return nil, nil, nil
	}
	s.mu.Lock()
	schema = s.of[tool{who, name}]
	s.mu.Unlock()
	if schema == nil {
		return nil, nil, nil
	}
	at, err := route.Member(m.Params(), "arguments")
	if err != nil {
		return nil, nil, err
	}
	if arguments = at.Of(m.Params()); arguments == nil {
		arguments = []byte("{}")
	}
	if _, err := mcp.ParamHeaders(schema, arguments); errors.Is(err, codec.ErrDuplicateMember) {
		return nil, nil, err
	}
	return schema, arguments, nil
}
