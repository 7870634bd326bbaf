// Package websocket carries package conn over WebSocket: one text message is one
// JSON-RPC message.
//
//	s, err := websocket.Dial(ctx, "wss://example.org/rpc", websocket.DialOptions{})
//	…
//	c, err := s.Conn(conn.Options{})
//
// and on the server, in an HTTP handler:
//
//	s, err := websocket.Accept(w, r, websocket.AcceptOptions{})
//
// [Stream] is what conn.New takes, with [Framer] as conn.Options.Framer; Stream.Conn
// does both. Everything that package conn says holds: the coalescing writer puts
// many messages into one write call, deadlines never cut the stream, a peer that
// does not read stalls nobody but who waits for it.
//
// # Sizes
//
// A message above conn.Options.MaxFrame is skipped as it comes in, and the call it
// answers fails if its id can be seen; the link stays up. Options.ReadLimit is for
// those who would rather close the link, with status 1009.
//
// # Control frames
//
// Pings are answered, and Options.Ping sends some. Control frames never wait for a
// peer that does not read, nor does the reader for them: they are queued, in order
// with the data, and a peer that asks for more than 64 KiB of pongs without reading
// them loses the link.
package websocket
