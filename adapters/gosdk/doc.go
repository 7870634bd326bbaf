// Package gosdk puts correlator's framing and codec under clients and servers of
// github.com/modelcontextprotocol/go-sdk, as an mcp.Transport:
//
//	client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)          // before
//	client.Connect(ctx, gosdk.Command(conn.Command{…}, gosdk.Options{}), nil) // after
//
//	server.Run(ctx, &mcp.StdioTransport{})          // before
//	server.Run(ctx, gosdk.Stdio(gosdk.Options{}))   // after
//
// [Command] is a child process, [Dial] a unix socket or TCP, [Stdio] the process's
// own standard input and output, [Stream] any stream, such as one that a listener
// accepted. As with go-sdk's own, a transport is for one Connect.
//
// # What is gained
//
// The table of pending calls stays go-sdk's: its mcp.Connection is a boundary of
// frames, not of calls. What changes is what a frame does to the connection.
//
//   - A line that is no message, a banner on standard output, a batch, a line too
//     long, an error without an id: go-sdk's own transports end the connection, and
//     every call with it. Here the line is dropped, counted and shown to
//     [Options].OnStray, and the connection goes on. An answer that cannot be read
//     fails its call, a request that cannot be read is refused under its id.
//   - Ids are exact. A request with the id 9007199254740993, or one of 30 digits, is
//     answered and cancelled under that id; go-sdk's own transports answer
//     9007199254740992. An id of 1.5 is refused instead of being answered as 1.
//   - The envelope is scanned once, by the codec, in place of three decodings; a
//     frame is written without being encoded by reflection.
//   - Messages that are written at the same time share a write.
//   - A child that dies says so in every call that it leaves: *conn.PeerGone, with the
//     exit code and the end of its standard error, which is always read.
//
// # What is lost
//
// Batches, which the protocol had from 2025-03-26 to 2025-06-18: go-sdk's own
// transports serve them where that version was agreed on, these drop them. A message
// that is spread over several lines, which no version allows, is dropped too.
package gosdk
