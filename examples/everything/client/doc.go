// Command client uses everything that a server at a URL has: it lists and calls its
// tools, reads its resources, fills in its prompts, and answers what it is asked.
// The conformance suite of the protocol runs it against its scripted servers, one
// for each scenario:
//
//	go run ./examples/everything/client http://127.0.0.1:8932/mcp
//
// MCP_CONFORMANCE_PROTOCOL_VERSION chooses the revision, MCP_CONFORMANCE_CONTEXT
// names calls to be made with their arguments.
package main
