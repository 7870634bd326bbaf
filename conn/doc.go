// Package conn is one full-duplex JSON-RPC connection: calls out, requests in,
// over any stream, child process or socket.
//
//	c, err := conn.Dial(ctx, "unix", "/run/tools.sock", conn.Options{})
//	…
//	result, err := c.Call(ctx, "tools/call", params, conn.CallOptions{Timeout: 30 * time.Second})
//
// A connection is made of any io.ReadWriteCloser with [New], of a socket with
// [Dial], of a child process with [Spawn], of the process's own standard input
// and output with [Stdio]; a [Redialer] makes it again whenever it is lost. The
// dialect is an option: MCP by default, LSP, plain JSON-RPC 2.0.
//
// # Calls
//
// There are three ways to make one, over the same table of pending calls:
//
//	Conn.Call     waits and returns the result, which the caller owns
//	Conn.Start    returns at once; a callback gets the outcome
//	Conn.Submit   starts many, queued and written in one piece
//
// and [Call], which encodes params and decodes the result. A deadline needs no
// context and costs no timer: it is an argument. A call always ends, and once:
// with the result, with the peer's *codec.Error, with ErrTimeout, ErrCancelled or
// ErrClosed. What the peer says afterwards is counted and dropped. [Sent] tells
// whether a failed request may have reached the peer, that is, whether it is safe
// to make it again.
//
// A call that was cancelled or timed out after it was written is cancelled at the
// peer as the dialect has it; one that was still queued is not written at all.
//
// # Requests
//
// What the peer asks goes to Options.Handler, on goroutines that live while there
// is work: at most Options.MaxConcurrent at once, and at most Options.MaxQueued
// waiting, beyond which a request is answered -32603. Notifications keep their
// order. A cancel by the peer passes the queue and ends the handler's context. A
// handler may call the peer and wait: answers never queue behind handlers.
//
// # Who runs what
//
// A connection has two goroutines, a reader and a writer. While the writer sleeps,
// whoever queues something may write in its place, without waiting.
//
//	reader      Notify of calls that are answered, OnStray, handlers under Inline
//	driver      Notify of calls that expire (a timer's goroutine)
//	caller      Notify of calls that it cancels; Progress and Subscription of Call
//	closer      Notify of calls that fail, OnClose
//	on demand   handlers; Progress and Subscription of Start and Submit
//
// What runs on the reader must not block: no answer is read while it does. It may
// call Start, Submit, Cancel, TryNotify, TryReply and Close, none of which waits
// (Start and Submit only under OverflowWait without NoWait). Call, Notify, Reply
// and Flush do wait. No lock is held while user code runs, and a panic in it is
// counted, shown to OnPanic, and harms no other call.
//
// # The write queue
//
// A frame is encoded by whoever sends it, behind the others of an open batch if
// nobody is at that just now, else into a buffer of its own; batches and buffers
// go onto a lock-free list. Params of 512 bytes to 32 KiB of a caller that waits stay
// where they are until the writer encodes them into what it is about to write, or
// the call ends. The writer takes all there is, leaves out the requests
// whose calls have ended, and writes the rest in one call. What one goroutine
// sends keeps its order. The queue is bounded in bytes, by Options.WriteBuffer:
// beyond it Call and Notify wait, each under its own deadline, in order of
// arrival, and what may not wait fails with ErrFull. A frame once begun is written
// whole, whoever's deadline passes meanwhile.
//
// So that one write carries many frames, the calls that answers of one burst set
// off are held until the reader has handed out 256 of them or all, and a caller
// that wakes the writer first lets others run that are ready to. With 1,024
// callers over a unix socket that makes about 0.01 write calls per call, against
// 0.08 without either.
//
// The writer's goroutine is often not needed. Whoever queues something while it
// sleeps writes in its place, if the stream is a socket or another [TryWriter]: as
// much as it takes without waiting, so that a caller can still leave at its
// deadline, and a callback on the reader still never blocks. The goroutine does
// the rest, and what callers queue that go on to wait for their answers by the
// hundred. Against waking the goroutine each time (same run, 2 cores, linux/amd64,
// go1.26.8, unix socket, echo in another process, 100-byte params): 43,000 calls a
// second from one caller instead of 19,000; with 1,024 in flight 2.1M a second
// from callbacks instead of 1.7M, and 0.33 µs of CPU in this process for each call
// of a batch instead of 0.46; nothing gained or lost for callers that wait.
//
// The open batch was measured against a buffer for every frame, in the same
// setting: 1,950 against 2,200 ns of CPU per blocking call in this process, 670
// against 810 per Start from a callback.
//
// Lending long params was measured against copying them into the open batch: with
// 1,024 callers of 4 KiB 14 % more calls a second and 13 % less CPU in this process,
// with 8 KiB 17 % and 15 %, with 1 KiB 6 % and 12 %. What waits in the queue is megabytes then, which
// would be written to memory and read again.
//
// # The end
//
// A connection ends by Close, Drain, the end of the stream, a failed write, a
// silent peer (Options.KeepAlive) or a failed initialize. Whatever the reason,
// every pending call fails with the same error, which is ErrClosed and unwraps to
// the reason; Err gives it. Each wait on the way is bounded.
//
// # Cost
//
// Call allocates the result, four short ones at a time; Start and Submit allocate
// nothing. Calls with Progress, Subscription or NoCancel allocate a little and take
// a lock.
package conn
