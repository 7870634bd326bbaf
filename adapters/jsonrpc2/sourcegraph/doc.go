// Package sourcegraph puts a correlator connection behind the call surface of
// github.com/sourcegraph/jsonrpc2. The constructors change, by the name of their
// package:
//
//	jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(c, jsonrpc2.VSCodeObjectCodec{}), h)          // before
//	sourcegraph.NewConn(ctx, sourcegraph.NewBufferedStream(c, jsonrpc2.VSCodeObjectCodec{}), h)    // after
//
// A [Conn] is a jsonrpc2.JSONRPC2. Handlers stay as they are: they get a
// *jsonrpc2.Conn whose calls, notifications and answers go out by this connection.
// Errors are the library's: *jsonrpc2.Error, jsonrpc2.ErrClosed, the error of ctx.
//
// Where a program names *jsonrpc2.Conn or jsonrpc2.Waiter as a type, it names
// *sourcegraph.Conn and sourcegraph.Waiter instead, and options of the connection
// are this package's: [OnRecv], [OnSend], [LogMessages], [SetLogger], all as the
// library has them, and [With].
//
// # What changes
//
//   - Requests that are made while others are written share the next write, answers
//     are found by one scan, and a handler that is busy holds up no answer. So a
//     handler may make a call and wait, as long as the requests that come behind it
//     are fewer than [DefaultBacklog].
//   - A call whose ctx ends is forgotten; in the library it stays in the table until
//     the peer answers. Under the LSP profile (With) the peer is told.
//   - A line that is no message, an answer to nothing, an error that is a string, an
//     id that is negative or a fraction end the connection of the library. Here they
//     end at most their own call.
//   - Ids on the wire are the connection's own. jsonrpc2.PickID and
//     jsonrpc2.StringID are accepted and do not reach the wire; Meta and ExtraField do.
//   - Notify returns when the message is queued; Conn().Flush waits until it is written.
//   - Close lets what is queued go out and answers on their way come in, for a second
//     at most.
//   - Nothing is logged unless a logger is set. Calls can have timeouts without a
//     context: With(conn.Options{Timeout: …}).
//   - A handler that panics is answered for with an internal error.
package sourcegraph
