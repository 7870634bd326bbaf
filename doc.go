// Package correlator is the landing page of a module that matches answers to
// requests over connections shared by thousands of concurrent calls. It holds no
// code; the example shows the parts at work together.
//
//	                 ┌──────────────── conn: one connection ────────────────┐
//	peer bytes ────▶ │ codec.Reader ─▶ codec.Message ─┬─ answer ──▶ engine ─┼─▶ waiter or callback
//	                 │   (framing)      (zero copy)   └─ request ─▶ Handler │
//	peer bytes ◀──── │ one writer ◀─── codec.Append… ◀──────────────────────┼── calls, answers
//	                 └──────────────────────────────────────────────────────┘
//	time ─▶ wheel ─▶ engine: expire
//
// The packages, from the outside in:
//
//   - [github.com/correlator-go/correlator/conn] is what most programs embed: a
//     full-duplex JSON-RPC connection over any stream, child process or socket.
//   - [github.com/correlator-go/correlator/engine] is the table of pending
//     requests alone, for programs with a transport of their own.
//   - [github.com/correlator-go/correlator/codec] reads and writes frames.
//   - [github.com/correlator-go/correlator/wheel] keeps deadlines without timers.
//
// docs/architecture.md is the map, docs/wire.md what goes over the wire, and
// docs/perf.md what was measured and how.
package correlator
