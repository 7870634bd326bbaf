// Package mcpgo puts a correlator connection under the client of
// github.com/mark3labs/mcp-go, in the place of that library's own stdio
// transport. One constructor changes:
//
//	c, err := client.NewStdioMCPClient(command, env, args...) // before
//	c, err := mcpgo.NewStdioMCPClient(command, env, args...)  // after
//
// or, where the transport is made by hand,
//
//	c := client.NewClient(transport.NewStdio(command, env, args...))
//	c := client.NewClient(mcpgo.NewStdio(command, env, args...))
//
// [Dial] is the same over a unix socket or TCP, [Command] a child process with
// every option, [Stream] any stream, [New] whatever opens a connection.
//
// # What stays
//
// All that the client does: both eras, typed calls, notifications, progress under
// the caller's own tokens, sampling, elicitation, roots. A [Transport] is a
// transport.BidirectionalInterface. Notifications are handled one at a time. The
// progress of a call keeps its order and is handled before the call returns, and so
// are the notifications of a subscription; all others keep their order among each
// other. Nothing but its ctx ends a call, unless Options say otherwise. The
// end of the ctx that was given to Start ends the connection.
//
// # What changes
//
//   - One writer takes what all callers have queued and writes it in one call. Params
//     that hold JSON text are put together from it, checked by one scan, not encoded
//     twice; the answer's bytes are found by one scan, not decoded three times.
//   - Ids and progress tokens on the wire are the connection's own. A caller's
//     token is put back before a notification is handed out, so two calls may use
//     the same one.
//   - A call whose ctx ends is cancelled at the server by the connection, under the
//     id that the server knows, in a write that others share. The client's own
//     notifications/cancelled, sent a moment later, is therefore not written.
//   - Timeouts, total and idle, need no context: Options.Conn.
//   - A notification handler that blocks holds up no answer. It may make calls.
//   - A line that is no message, a banner, an error without an id are counted and
//     dropped (conn.Options.OnStray shows them); an answer that cannot be read fails
//     its call. A child that dies fails every call with its exit code and the end of
//     its standard error (*conn.PeerGone).
//   - A server's request always gets an answer: a handler that gives none, or
//     panics, is answered for with an internal error.
//   - An initialize that is given up ends the connection, since the protocol has no
//     cancel for it.
//
// # Errors
//
// A server's error comes as a response with an Error, as the interface has it.
// Calls that fail otherwise give an error that errors.Is finds context.Canceled or
// context.DeadlineExceeded in when ctx ended, conn.ErrTimeout when a timeout of
// Options passed, transport.ErrTransportClosed and conn.ErrClosed when the
// connection is closed or broke. conn.Sent tells of each whether the request may
// have reached the server.
package mcpgo
