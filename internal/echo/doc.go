// Package echo is the other end of a connection for load tests, benchmarks and
// demonstrations: a JSON-RPC peer that answers each request with its own
// params. It holds no table, no timer and no lock per message, so what a
// measurement against it shows is the client and the transport.
//
//	client, server := echo.Pipe()
//	go echo.Serve(server, echo.Options{})
//
// # Cost
//
// Without a [Shape] the server reads a chunk, appends the answer of every frame
// in it to one buffer, and writes that buffer once, just before it would wait
// for more input. In steady state it allocates nothing per message.
//
// # Faults
//
// A [Shape] makes the peer misbehave on purpose: it delays, forgets, answers
// too late or twice, out of order, reports progress, stops reading, or dies.
// What befalls a request depends only on the seed, the connection's number and
// the request's number on that connection, so that a run can be repeated.
// Everything it did is in its [Counters], which a client's own counts must
// match. A shaped server copies each request and is not meant to be fast.
//
// # Two requests of its own
//
// The method "echo/counters" is answered with a [Counts] as JSON and is itself
// not counted. With [Options.MCP], initialize, ping, tools/list and tools/call
// are answered as a small MCP server would; nothing else of MCP is here.
package echo
