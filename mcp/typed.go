package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/correlator-go/correlator/codec"
)

// NewTool makes a tool of a typed function. The JSON Schemas of In and Out are
// inferred from their types, unless t has its own; the struct tag jsonschema
// describes a field.
//
// The arguments are decoded into In first: what cannot be is answered as invalid
// params. What can, but breaks the schema (a member that is missing, or is not
// known, or is out of its range), is a result that says IsError and tells the model
// what is wrong.
//
// Out says what becomes of the result: *ToolResult is taken as it is, a string
// becomes a block of text, a Content or []Content the blocks, and any other type is
// the structured result, with its JSON text as a block for clients that read no
// other. Errors are those that ToolHandler lists. A type without a schema is an
// error of NewServer.
func NewTool[In, Out any](t Tool, f func(ctx context.Context, r *Request, in In) (Out, error)) ServerTool {
	st := ServerTool{Tool: t}
	var check *arguments
	if st.InputSchema, check, st.err = inputSchema[In](t.InputSchema); st.err != nil {
		return st
	}
	if st.OutputSchema, st.err = outputSchema[Out](t.OutputSchema); st.err != nil {
		return st
	}
	st.Handle = func(ctx context.Context, r *Request) (*ToolResult, error) {
		var in In
		text := r.Arguments()
		if err := codec.DecodeValue(text, &in); err != nil {
			return nil, &argumentsError{err: err}
		}
		if err := check.validate(text); err != nil {
			return nil, &argumentsError{err: err, readable: true}
		}
		out, err := f(ctx, r, in)
		if err != nil {
			return nil, err
		}
		return toResult(out)
	}
	return st
}

// argumentsError says that a tool's arguments are wrong: not readable as what the
// function takes, or readable and against the schema.
type argumentsError struct {
	err      error
	readable bool
}

// Error is what the model reads.
func (e *argumentsError) Error() string { return "Invalid arguments: " + e.err.Error() }
func (e *argumentsError) Unwrap() error { return e.err }

func inputSchema[In any](own json.RawMessage) (json.RawMessage, *arguments, error) {
	if len(own) > 0 {
		check, err := newArguments(own, nil)
		return own, check, err
	}
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, nil, fmt.Errorf("input schema of %v: %w", reflect.TypeFor[In](), err)
	}
	if schema.Type == "" && len(schema.Types) == 0 { // any
		schema.Type = "object"
	}
	if schema.Type != "object" {
		return nil, nil, fmt.Errorf("input schema of %v: it is no object", reflect.TypeFor[In]())
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, nil, err
	}
	check, err := newArguments(text, schema)
	return text, check, err
}

func outputSchema[Out any](own json.RawMessage) (json.RawMessage, error) {
	if len(own) > 0 {
		return own, nil
	}
	switch any(*new(Out)).(type) {
	case *ToolResult, string, Content, []Content, nil:
		return nil, nil
	}
	schema, err := jsonschema.For[Out](nil)
	if err != nil {
		return nil, fmt.Errorf("output schema of %v: %w", reflect.TypeFor[Out](), err)
	}
	return json.Marshal(schema)
}

// toResult makes a result of what a typed function returned.
func toResult(out any) (*ToolResult, error) {
	switch out := out.(type) {
	case *ToolResult:
		return out, nil
	case string:
		return ToolText(out), nil
	case Content:
		return &ToolResult{Content: []Content{out}}, nil
	case []Content:
		return &ToolResult{Content: out}, nil
	}
	text, err := appendAny(nil, out)
	if err != nil {
		return nil, failInternal
	}
	return &ToolResult{Content: []Content{Text(string(text))}, Structured: text}, nil
}

// arguments checks arguments against a schema.
type arguments struct {
	resolved *jsonschema.Resolved
	// flat says that the schema names nothing but members of simple types: then
	// decoding has checked the types, and names are all that is left to check.
	flat     bool
	known    map[string]uint64 // by name: its bit
	required uint64            // the bits of those that must be there
}

// maxFlat is how many members have a bit.
const maxFlat = 64

func newArguments(text json.RawMessage, inferred *jsonschema.Schema) (*arguments, error) {
	schema := inferred
	if schema == nil {
		schema = new(jsonschema.Schema)
		if err := json.Unmarshal(text, schema); err != nil {
			return nil, fmt.Errorf("input schema: %w", err)
		}
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	c := &arguments{resolved: resolved}
	if inferred == nil || len(inferred.Properties) == 0 || len(inferred.Properties) > maxFlat {
		return c, nil
	}
	c.flat, c.known = true, make(map[string]uint64, len(inferred.Properties))
	for name, property := range inferred.Properties {
		c.known[name] = 1 << len(c.known)
		c.flat = c.flat && isSimple(property)
	}
	for _, name := range inferred.Required {
		c.required |= c.known[name]
	}
	return c, nil
}

// isSimple reports whether a schema says no more than a type that the Go type says
// too.
func isSimple(s *jsonschema.Schema) bool {
	bare := *s
	bare.Description, bare.Title = "", ""
	switch bare.Type {
	case "string", "boolean", "integer", "number":
		bare.Type = ""
		return reflect.DeepEqual(bare, jsonschema.Schema{})
	}
	return false
}

// validate checks arguments that were decoded already. Whatever the quick look
// finds fault with gets the long one, which says what is wrong.
func (c *arguments) validate(text json.RawMessage) error {
	if c.flat && c.quick(text) {
		return nil
	}
	var value any
	if err := codec.DecodeValue(text, &value); err != nil {
		return err
	}
	return c.resolved.Validate(value)
}

// quick reports whether all members are known, none is null, and all that are
// required are there.
func (c *arguments) quick(text json.RawMessage) bool {
	seen := uint64(0)
	m, _ := membersOf(text)
	for name, value, ok := m.next(); ok; name, value, ok = m.next() {
		bit := c.known[string(name)]
		if bit == 0 || text[value.Off] == 'n' {
			return false
		}
		seen |= bit
	}
	return c.required&^seen == 0
}
