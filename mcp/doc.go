// Package mcp is the Model Context Protocol as a function: the facts of the
// protocol, the description of a server, and Step, which turns what happened on a
// connection into what is to be done.
package mcp
