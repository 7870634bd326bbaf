package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Request describes one kind of request, as a file of -mix does. It is either a
// method with params or made-up params of a size, or a tool with arguments.
type Request struct {
	Name   string          `json:"name"`   // for reports; "" is the method or the tool
	Weight float64         `json:"weight"` // absent is 1
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"` // an object or an array
	Size   string          `json:"size"`   // see ParseSize
	Tool   string          `json:"tool"`   // of MCP
	Args   json.RawMessage `json:"args"`   // an object; absent is an empty one
}

// ParseMix reads a JSON array of requests, of which none may have members that
// are not known, and says which one is wrong.
func ParseMix(text []byte) ([]Request, error) {
	var raw []json.RawMessage
	if err := strictly(text, &raw); err != nil {
		return nil, fmt.Errorf("want a JSON array of requests: %w", err)
	}
	if len(raw) == 0 {
		return nil, errors.New("there is no request in it")
	}
	out := make([]Request, len(raw))
	for i := range raw {
		out[i].Weight = 1
		err := strictly(raw[i], &out[i])
		if err == nil {
			err = out[i].check()
		}
		if err != nil {
			return nil, fmt.Errorf("request %d of %d: %w", i+1, len(raw), err)
		}
	}
	return out, nil
}

func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is something behind its end")
	}
	return nil
}

func (r *Request) check() error {
	switch {
	case (r.Method == "") == (r.Tool == ""):
		return errors.New("want one of method and tool")
	case r.Tool != "" && (r.Params != nil || r.Size != ""):
		return errors.New("a tool has args, not params or size")
	case r.Method != "" && r.Args != nil:
		return errors.New("args are a tool's; a method has params")
	case r.Params != nil && r.Size != "":
		return errors.New("params and size are two ways to say the same: give one")
	case !(r.Weight > 0):
		return fmt.Errorf("its weight is %g, want a number above 0", r.Weight)
	}
	_, err := r.Entry(0, nil)
	return err
}

// Entry makes the entry of a mix. seed decides the made-up params. meta is the JSON
// text of _meta that every request must carry, nil for none: it is added unless
// the params have their own.
func (r *Request) Entry(seed uint64, meta []byte) (Entry, error) {
	e := Entry{Name: r.Name, Method: r.Method, Weight: r.Weight}
	var err error
	if r.Tool != "" {
		e.Method, e.Tool = "tools/call", true
		if e.Name == "" {
			e.Name = r.Tool
		}
		var params []byte
		params, err = ToolParams(r.Tool, string(r.Args), meta)
		e.Payload = FixedPayload(params)
		return e, err
	}
	if e.Name == "" {
		e.Name = r.Method
	}
	if r.Size != "" {
		if meta != nil {
			return e, errors.New("params of a size have no room for _meta, which this peer asks for")
		}
		least, most, err := ParseSize(r.Size)
		if err != nil {
			return e, err
		}
		e.Payload = NewPayload(least, most, seed)
		return e, nil
	}
	params, err := withMeta(r.Params, meta)
	e.Payload = FixedPayload(params)
	return e, err
}

// withMeta checks that params, if any, are a JSON object or array, takes the spaces
// out, since a line break inside would end the frame of a line framing, and adds
// _meta.
func withMeta(params, meta []byte) ([]byte, error) {
	if params == nil && meta == nil {
		return nil, nil
	}
	if params == nil {
		params = []byte("{}")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, params); err != nil {
		return nil, err
	}
	first := compact.Bytes()[0]
	if first != '{' && first != '[' {
		return nil, errors.New("params must be an object or an array")
	}
	if meta == nil {
		return compact.Bytes(), nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(params, &object); err != nil {
		return nil, errors.New("params must be an object, since this peer asks for _meta in it")
	}
	if object["_meta"] == nil {
		object["_meta"] = meta
	}
	return json.Marshal(object)
}

// Describe says in a few words what the request carries.
func (r *Request) Describe() string {
	switch {
	case r.Tool != "":
		return fmt.Sprintf("of %s with %d B of arguments", r.Tool, max(len(r.Args), len("{}")))
	case r.Size != "":
		return "with " + r.Size + " B of params"
	case r.Params == nil:
		return "without params"
	}
	return fmt.Sprintf("with %d B of params", len(r.Params))
}
