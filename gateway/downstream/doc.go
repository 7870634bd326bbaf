// Package downstream brings clients to a gateway.
//
//	Stdio, Serve   one client: standard input and output, or any stream
//	Listen         every client of a listener: unix sockets, TCP, TLS
//	NewEndpoint    an http.Handler: Streamable HTTP of both eras, and WebSockets
//	ServeHTTP      a server for that, or for a mux with it, until a context ends
//
// # Whose session
//
// A connection is a session, and a WebSocket is one. Over HTTP each request of the modern
// era stands alone, and its client's end cancels it; in the older era a session begins
// with initialize, belongs to the identity that began it, and outlives its responses:
// a client that loses one comes back with Last-Event-ID.
//
// # Who gets in
//
// Bind refuses addresses that other machines can reach unless it is told. An Endpoint
// looks at the Host and Origin of every request, so that no page of another site reaches
// it, then asks HTTPOptions.Verifier, then bounds what comes in.
//
// # A client that does not read
//
// What waits for it is bounded by the write buffer. On a stream it is let go of when an
// answer finds no room; over HTTP answers are kept, since each request has one, and
// whatever else is above the bound is for the gateway to drop or to replace.
package downstream
