package mcp

import "context"

// NewTool makes a tool of a typed function. The JSON Schemas of In and Out are
// inferred from their types, unless t has its own; the struct tag jsonschema
// describes a field. The arguments are decoded into In after they passed the
// schema.
//
// Out says what becomes of the result: *ToolResult is taken as it is, a string
// becomes a block of text, and any other type is the structured result, with its
// JSON text as a block for clients that read no other. Errors are those that
// ToolHandler lists. A type without a schema is an error of NewServer.
func NewTool[In, Out any](t Tool, f func(ctx context.Context, r *Request, in In) (Out, error)) ServerTool {
	return ServerTool{Tool: t}
}
