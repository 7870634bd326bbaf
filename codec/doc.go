// Package codec turns JSON-RPC bytes into messages and messages into bytes,
// touching each byte once and copying none that can stay where it is.
//
//	stream ─▶ Framer ─▶ Reader ─▶ frame ─▶ Scan ─▶ Envelope ┐
//	                                └────────────────────────┴─▶ Message (a view)
//	stream ◀─ Framer ◀─ AppendRequest, AppendResult, … AppendSplice, AppendCompact
//
// A frame is one message's bytes, without what delimits it on the wire. A message
// is the view onto it: a small value of offsets. The package has no clock and no
// goroutine, and reads only from the io.Reader that a [Reader] is given; pools of
// buffers are its only shared state.
//
// # What is accepted
//
// [Scan] is strict where bytes come in, so that nobody behind it has to be, and so
// that what was inspected is what the next reader takes. A frame must be exactly
// one JSON text by RFC 8259 in UTF-8: control characters in strings, malformed
// numbers, bytes behind the message and the like are refused with [CodeParse].
// Half a surrogate pair in an escape is legal JSON and passes, unless
// ScanOptions.RefuseLoneSurrogates. Nesting is bounded (512 by default) and costs
// a bit a level, never the stack.
//
// The text must be a JSON-RPC message, or it is refused with [CodeInvalidRequest]:
//
//   - Member names count by their exact case, escaped or not; they may come in any
//     order, and unknown ones pass.
//   - A member that is read may stand once: jsonrpc, id, method, params, result,
//     error; in the MCP profile _meta, progressToken, requestId, name and uri of
//     params, progressToken and io.modelcontextprotocol/subscriptionId of its
//     _meta, and _meta and the latter of result; in the LSP profile id of params.
//   - jsonrpc is "2.0". A response without it passes as FlagNoVersion (JSON-RPC
//     1.0), a request does not.
//   - method is a string, and stands beside neither result nor error.
//   - id is a string, null or a number by the rules of [Profile]; a result has one.
//   - An error that is not null makes a response an error, whatever its type, and
//     whatever result stands beside it; a null one makes it none.
//
// params may be of any type: whether it suits the method is for the method to
// say, with -32602.
//
// # Lifetime of bytes
//
// Slices that come out of a [Message], an [Envelope] span or [SplitBatch] alias
// the frame. A frame that a Reader gave is borrowed until the reader's next call;
// [Message.Retain] and [Message.Detach] extend that. What is copied says so: [ID],
// [Error] and everything [DecodeValue] fills own their bytes.
//
// # Ids
//
// An [ID] is typed: 1 and "1" differ, and integers of any size keep their exact
// digits, never passing through a float. Strings are compared by what they decode
// to; the text that a peer sent is echoed from [Message.RawID].
//
// # Errors
//
// [*SyntaxError] and [ErrBatch] concern one frame; the stream goes on behind it
// ([Recoverable]). The error member of a response is read tolerantly, since real
// peers send strings, numbers and halves of objects: see [ReadError], and
// [ErrorFailure] and [ErrorText] for the two readings it is made of.
//
// # Costs
//
// A scan allocates nothing and takes about 40 ns for a short response. In pure Go
// it passes over text at 2 GB/s and more; where [ScanEngine] is "avx2", at 20, and
// validates dense objects at twice the speed of pure Go. The outcome is the same.
// docs/perf.md has the comparison, docs/architecture.md tells the engines apart.
//
// # Concurrency
//
// The functions are safe for concurrent use. A Reader belongs to one goroutine. A
// Message may be read by many as long as nobody splices into its bytes.
package codec
