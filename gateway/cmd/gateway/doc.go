// Command gateway lets many clients share a few MCP or JSON-RPC servers.
//
//	gateway [flags] -- COMMAND [ARG...]
//
// starts COMMAND as a child process that all clients share, and serves them. Without
// flags the one client is whoever started the gateway, over standard input and output.
package main
