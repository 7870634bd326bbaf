// Package otel observes clients, servers and connections with OpenTelemetry: metrics
// and spans under the names of the semantic conventions for MCP, and the trace
// context of W3C in the _meta of each request (SEP-414).
//
//	t, err := otel.New(otel.Options{})                                       // the global providers
//	c, err := client.Connect(ctx, way, t.Client(client.Options{}, otel.Stdio))
//	s, err := serve.New(description, t.Server(serve.Options{}, otel.Stdio))
//	k, err := conn.Dial("unix", path, t.Conn(conn.Options{}, otel.Unix))       // without a client
//	o.Observer = t.Settled(otel.Link{})                                      // a table alone
//
// # Spans
//
// A client has one of kind CLIENT for each request, a server one of kind SERVER for
// each. The server's has the client's as its parent, by way of _meta, on whatever
// carries the two; what was current at the server already, such as the span of an
// HTTP request, is linked. The handler's context carries the span, so that spans of
// the handler's own are its children. The names are "{method} {tool or prompt}".
//
// For HTTP itself there is otelhttp, around serve's handler and in client.HTTP's
// Client; the two contexts are apart from each other, as the conventions want it.
//
// # Metrics
//
// README.md lists every name with its source. Attributes are bounded: methods that
// MCP does not name, names beyond Options.MaxNames and codes beyond Options.MaxCodes
// are "_OTHER". Attribute sets are made once for each combination, so that recording
// allocates nothing beyond what the SDK does.
//
// # Failures
//
// What a provider, a propagator or a span panics with is dropped: telemetry harms no
// call, and no handler runs twice or not at all.
package otel
