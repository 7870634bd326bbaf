// Command server is an MCP server with one tool, on standard input and output.
package main
