// Package client is a client of the Model Context Protocol, over a [conn.Conn] or
// over Streamable HTTP, for servers of every revision from 2025-03-26 on.
//
//	c, err := client.Connect(ctx, client.Command(conn.Command{Path: "my-server"}), client.Options{})
//	…
//	r, err := c.CallTool(ctx, "add", map[string]int{"a": 1, "b": 2}, client.CallOptions{})
//
// # Ways to a server
//
// Command starts a child process, Dial connects to a socket, Stream takes any
// stream, Over a connection that stands, HTTP posts to an endpoint. Programs that
// pass messages on and keep the table of calls themselves find the HTTP alone in
// [Wire]. The client behaves the same over each of them, failures included: what a server answers with an error is a *codec.Error;
// what got no answer is an *engine.CallError that errors.Is finds conn.ErrTimeout,
// conn.ErrCancelled or conn.ErrClosed; an HTTP status without a JSON-RPC error in
// its body is an *HTTPError. conn.Sent tells of each whether the request may have
// reached the server.
//
// # Eras
//
// A server of revision 2026-07-28 and later knows no handshake: every request
// brings what the server must know. An older one begins with initialize. Connect
// asks with server/discover which of them it has before it, and remembers the
// answer per peer in [Eras]:
//
//	server/discover ──result────────────────────▶ modern, the newest common revision
//	               ├─-32022, with its revisions─▶ modern, once more with one of them
//	               ├─-32020, -32021─────────────▶ modern, so Connect fails with it
//	               └─any other error, or none in Options.ProbeTimeout
//	                                            ─▶ older: initialize
//
// # Input that a server asks for
//
// A modern server answers a call with the questions it has, an older one sends
// them as requests of its own. Either way they reach Options.Elicit,
// Options.Sample and Options.Roots; the caller of CallTool sees the last result
// alone. What the client was given no function for it does not declare.
//
// # Notifications
//
// Progress of a call goes to CallOptions.Progress, changes that Listen asked for to
// its [Subscription], log lines to Options.OnLog, and whatever else comes to
// Options.OnNotification.
package client
