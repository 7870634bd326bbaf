// Command client starts an MCP server as a child process, lists its tools and calls
// one:
//
//	go run ./examples/quickstart/client go run ./examples/quickstart/server
package main
