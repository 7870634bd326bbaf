// Package serve runs MCP servers: it carries out what the reducer of package mcp
// decides, over standard input and output, sockets, pipes and Streamable HTTP.
//
//	tools, err := mcp.NewServer(mcp.Description{…})
//	s, err := serve.New(tools, serve.Options{})
//	err = s.Stdio(ctx)
//
// # Front ends
//
//	Server.Stdio       the process's standard input and output
//	Server.Serve       any io.ReadWriteCloser that carries lines
//	Server.Listen      every connection of a net.Listener
//	Server.InProcess   a client in the same process
//	Server.Connect     frames in, a Sink for frames out: any other transport
//	Server.HTTP        Streamable HTTP, both eras, as an http.Handler
//	NewHTTP            the same before a Backend of another kind
//
// # What runs where
//
// Each connection has one lock. Whoever has an input, the reader with a frame, a
// handler that returned, the timer of the deadlines, takes the lock, steps the
// reducer and carries the effects out. None of them waits, and no user code runs
// under the lock.
//
//	reader      one per stream: frames, refusals, OnStray
//	writer      one per stream: writes all there is in one call
//	crew        handlers, on goroutines that live while there is work
//	timer       deadlines, grace; events about them
//
// A handler that panics, or ends its goroutine, costs its own request: that is
// answered -32603 with nothing of the panic's text, all others go on.
//
// # Ending a handler
//
// A request that is cancelled, times out or loses its peer is over at once: its
// handler's context ends, the cause says why, its place among the live requests is
// free, and whatever the handler still returns is dropped. The handler keeps its
// place among Options.MaxHandlers for Options.Grace; then that is free as well. Go
// cannot stop a goroutine, so Options.MaxAbandoned bounds those that go on without
// a place.
//
// # When a peer does not read
//
// What waits to be written is bounded by Options.WriteBuffer. Handlers wait with
// their results, and hold their requests' places; when these run out, further
// requests are refused; at twice the bound the reader stops reading. Changes for
// subscriptions gather, each once. After Options.WriteTimeout in which the peer
// takes no byte its connection is given up.
//
// # Order
//
// What belongs to one request goes out in the order in which it came about: its
// notifications, then its one answer, then nothing. A report of progress returns
// when its bytes were written.
package serve
