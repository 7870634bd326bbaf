package gateway

import (
	"bytes"
	"errors"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// methods keeps one string for each method that clients call, so that a call does not
// allocate one. Names are the clients' to choose, so no more are kept than methodsMost.
type methods struct {
	mu    sync.RWMutex // guards names
	names map[string]string
}

const (
	methodsMost  = 512
	methodLength = 128
)

func (t *methods) of(name []byte) string {
	t.mu.RLock()
	s, ok := t.names[string(name)]
	t.mu.RUnlock()
	if ok {
		return s
	}
	s = string(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.names) < methodsMost && len(s) <= methodLength {
		if t.names == nil {
			t.names = make(map[string]string)
		}
		t.names[s] = s
	}
	return s
}

// toolOf is the name of the tool or prompt that a request is about, for observers.
func (g *Gateway) toolOf(method string, m *codec.Message) string {
	raw := m.Name()
	if method != mcp.MethodCallTool && method != mcp.MethodGetPrompt || len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	name := raw[1 : len(raw)-1]
	for _, c := range name {
		if c == '\\' {
			var s string
			if codec.DecodeValue(raw, &s) != nil {
				return ""
			}
			return g.tools.of([]byte(s))
		}
	}
	return g.tools.of(name)
}

// ErrTool is Event.Err of a call whose tool answered that it failed.
var ErrTool = errors.New("gateway: the tool's result says isError")

// whyFailed looks into an answer for observers.
func (c *call) whyFailed(m *codec.Message) error {
	switch {
	case c.session.g.o.Observer == nil:
	case m.Kind == codec.KindError:
		e := *m.Err()
		e.Data = nil // borrowed, and not for logs
		return &e
	case c.method == mcp.MethodCallTool && bytes.Contains(m.Result(), isErrorMark):
		var r struct {
			IsError bool `json:"isError"`
		}
		if codec.DecodeValue(m.Result(), &r) == nil && r.IsError {
			return ErrTool
		}
	}
	return nil
}

var isErrorMark = []byte(`"isError"`)
