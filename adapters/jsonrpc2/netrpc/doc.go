// Package netrpc puts a correlator connection under the client of net/rpc, in the
// place of net/rpc/jsonrpc. One constructor changes:
//
//	c, err := jsonrpc.Dial("tcp", address) // before
//	c, err := netrpc.Dial("tcp", address)  // after
//
// [NewClient] and [NewClientCodec] are jsonrpc's as well; [New] has options. The
// client is a *rpc.Client and does what it always did: Call, Go, Close,
// rpc.ServerError, rpc.ErrShutdown, io.ErrUnexpectedEOF.
//
// # What changes
//
//   - Servers may speak JSON-RPC 2.0 as well as 1.0. Params are an array of the one
//     argument, as jsonrpc sends it, or with [Options.Named] the argument itself.
//   - An error that is an object, as JSON-RPC 2.0 has it, a null result, a line that
//     is no message and an answer to nothing end the connection of jsonrpc. Here
//     they end at most their own call.
//   - Requests that are made while others are written share the next write, and
//     answers are found by one scan.
//   - [Options.Conn] brings timeouts, keep-alive, counters, a handler for what the
//     server asks and notifies.
//
// Ids on the wire are the connection's own, and the jsonrpc member is sent.
//
// # What stays
//
// A result that does not fit the reply ends the client, since *rpc.Client has it
// so; the connection stays open until Close. Results are decoded one at a time, on
// the client's goroutine.
package netrpc
