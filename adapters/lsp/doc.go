// Package lsp runs language servers for the programs that embed them: it starts the
// child, speaks Content-Length framing and the LSP dialect of conn with it, and does
// what the Language Server Protocol asks of every client.
//
//	server, err := lsp.Spawn(ctx, conn.Command{Path: "gopls"}, lsp.Options{})
//	…
//	_, err = server.Initialize(ctx, initializeParams, lsp.CallOptions{})
//	hover, err := lsp.Call[*Hover](ctx, server, "textDocument/hover", params, lsp.CallOptions{Timeout: time.Second})
//	…
//	err = server.Shutdown(ctx)
//
// It has no types of the protocol's messages: params and results are the program's own
// structs, those of a types library, or json.RawMessage.
//
// # What it does
//
//   - The order of a session: initialize, initialized, calls, shutdown, exit. What comes
//     too early or too late fails here with a clear error; see [Client].
//   - Calls end: by their answer, timeout, context, or with the server. A call that
//     was given up is cancelled by $/cancelRequest. The server answers that too, with
//     RequestCancelled mostly, which is counted and dropped, or waited for with
//     [CallOptions].CancelGrace.
//   - Notifications of the server (diagnostics, messages, $/progress) come to handlers
//     in their order, one at a time.
//   - Requests of the server are answered, so that no server waits for a client that
//     has nothing to say: see [Options].OnRequest for what is answered by itself.
//   - Progress and partial results reach the call that asked for them, in order and
//     before its result: [CallOptions].WorkDone and Partial.
//   - A server that dies fails every call that is pending with *conn.PeerGone, which
//     has the exit code and the end of the standard error.
//
// # Errors
//
// What the server answers is a *[ResponseError], which errors.Is tells by a [Code] such
// as [ErrContentModified]. Else a call fails with the errors of package conn:
// conn.ErrTimeout, conn.ErrCancelled, conn.ErrClosed.
//
// # Who runs what
//
// Notification handlers run on one goroutine, request handlers on one each, both apart
// from the connection's reader: they may block, make calls and wait for their answers.
// WorkDone and Partial run on the goroutine of their call. All methods of a [Client]
// are safe for concurrent use.
package lsp
