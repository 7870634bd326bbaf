// Package mcp is the Model Context Protocol as a function: the facts of the
// protocol, the description of a server, and [Step], which turns what happened on
// a connection into what is to be done.
//
//	frame, handler's end, ──▶ Step(state, input) ──▶ effects: write, start, cancel,
//	timeout, notification           │                close, ask, …
//	                                ▼
//	                              state
//
// The package has no clock, no goroutine and no I/O. Package serve carries the
// effects out, over stdio, sockets and HTTP; most programs describe a server here
// and run it there.
//
// # A server
//
// [NewServer] makes one of a [Description]: tools, resources, templates of them,
// prompts, completion. [NewTool] makes a tool of a typed function, and infers its
// JSON Schemas. Handlers are values that Step never calls: it gives them out with
// a Start, and [Perform] runs them.
//
// # A connection
//
// [Init] makes the [State] of a connection. Then every [Input] goes through Step,
// one at a time, and its [Effect]s are carried out in their order. What comes in
// as one frame is an exchange, named by an [ExchangeID] that is taken before the
// frame is parsed; what goes out for it names the same one. The ids that a peer
// chose name nothing but what it cancels, so two requests with one id do not
// disturb each other.
//
//	Received ──▶ Admitted ──▶ Start ──▶ (handler) ──▶ Finished ──▶ Write ──▶ Close
//	    │            └──▶ Write ──▶ Close             answered here: lists, discovery
//	    └──▶ Write ──▶ Close                          refused: never admitted
//
// Four things hold whatever happens in whatever order: an exchange is answered at
// most once, no handler starts before its request was admitted, nothing follows a
// Close, and a cancelled request is not answered at all.
//
// # Eras
//
// A request that brings a protocol version in its _meta is of the modern era
// (2026-07-28): it says everything that is to be known about it. initialize begins
// a session of the older one (2025-11-25, 2025-06-18, 2025-03-26), in which the
// requests without a version are. Both may meet on one connection. docs/mcp.md
// tells what the older era adds.
//
// A handler that needs something from its client returns [InputRequired], and runs
// again with the answer. The modern client is asked in the answer to its request,
// and sends it again; the older one is asked by a request of our own, which is an
// Ask to be sent like any call. The handler sees no difference.
//
// # Admission
//
// A frame is checked in this order, and told of the first thing that is wrong:
// JSON (-32700); an object, jsonrpc, method, id (-32600); for a request its _meta
// (-32602, -32022, and -32020 for HTTP headers that differ); its method (-32601);
// the method's own params. Answers and notifications are never answered. The
// effect that refuses says at which step ([Refusal]), so that a front end can
// choose a status or to stay silent. What could be read of an id is carried.
//
// # What it costs
//
// A tools/call allocates three times: the invocation, its copy of the request,
// and the frame of the answer. Bounds are in [Options].
//
// # Concurrency
//
// A State belongs to one caller at a time. A [Server] and an [Invocation] never
// change, and may be used by any number of goroutines.
package mcp
