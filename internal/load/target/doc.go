// Package target opens what a load test is aimed at, from one word of a command
// line, as one or several connections:
//
//	pipe:echo            an echo server in this process, no system call between
//	unix:/path           a unix socket
//	tcp:host:port        a TCP connection
//	ws://host:port/path  a WebSocket, or wss: one over TLS; the slashes are optional
//	http://host/path     a Streamable HTTP endpoint of MCP, or https
//	exec:command args    a child process over its standard input and output
//
// With [Shake] it finds out which revision of MCP the peer speaks and greets it.
package target
