// Package creachadair puts a correlator connection behind the client of
// github.com/creachadair/jrpc2. The constructors change, by the name of their
// package:
//
//	cli := jrpc2.NewClient(channel.Line(c, c), &jrpc2.ClientOptions{OnNotify: f})             // before
//	cli := creachadair.NewClient(creachadair.Line(c, c), &creachadair.ClientOptions{OnNotify: f}) // after
//
// A [Client] has the methods of *jrpc2.Client with the same meaning, on any channel
// of the library; on those that this package frames it reads and writes bytes.
// Errors are the library's: *jrpc2.Error, context.Canceled,
// context.DeadlineExceeded. Requests of the server come as *jrpc2.Request, so
// jrpc2.Handler, handler.New and jrpc2.Spec stay as they are. Where a program names
// *jrpc2.Client or *jrpc2.Response it names *creachadair.Client and
// *creachadair.Response.
//
// # What changes
//
//   - Requests that are made while others are written share the next write, answers
//     are found by one scan, and a call costs no goroutine.
//   - A line that is no message and an answer to nothing are dropped, where the
//     library closes the client on the first. An answer whose error is a string ends
//     its call.
//   - Ids on the wire are the connection's own: numbers, not counted from 1.
//   - A Batch goes out as its requests, one after the other in its order, not as an
//     array.
//   - OnNotify may block and may make calls; so may OnCallback. A request of the
//     server that comes while there is no OnCallback is answered "method not found".
//   - Notify returns when the message is queued; Conn().Flush waits until it is written.
//   - Close lets what is queued go out and answers on their way come in, for a second
//     at most.
//   - Calls can have timeouts without a context: ClientOptions.Conn.
package creachadair
