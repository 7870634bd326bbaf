// Command everything is an MCP server with one of everything: tools that answer
// with every kind of content, report progress, log, ask for input and change the
// lists, resources, templates, prompts and completion, in both eras, on standard
// input and output or over Streamable HTTP. It has what the conformance suite of
// the protocol wants to find in a server, and shows how each of it is written.
//
//	go run ./examples/everything                        # stdio
//	go run ./examples/everything -http 127.0.0.1:8932   # http://127.0.0.1:8932/mcp
package main
