// Package conn is one full-duplex JSON-RPC connection: calls out, requests in,
// over any stream, child process or socket.
package conn
