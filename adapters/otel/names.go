package otel

import "go.opentelemetry.io/otel/attribute"

// The names of the conventions for MCP
// (https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md,
// in development; in semconv up to v1.41 of the main repository).
const (
	metricClientOperation = "mcp.client.operation.duration"
	metricServerOperation = "mcp.server.operation.duration"
	metricClientSession   = "mcp.client.session.duration"
	metricServerSession   = "mcp.server.session.duration"

	keyMethod    = attribute.Key("mcp.method.name")
	keySession   = attribute.Key("mcp.session.id")
	keyRevision  = attribute.Key("mcp.protocol.version")
	keyURI       = attribute.Key("mcp.resource.uri")
	keyTool      = attribute.Key("gen_ai.tool.name")
	keyPrompt    = attribute.Key("gen_ai.prompt.name")
	keyOperation = attribute.Key("gen_ai.operation.name")
	keyRequestID = attribute.Key("jsonrpc.request.id")
	keyStatus    = attribute.Key("rpc.response.status_code")
	keyError     = attribute.Key("error.type")
	keyTransport = attribute.Key("network.transport")
	keyProtocol  = attribute.Key("network.protocol.name")
	keyVersion   = attribute.Key("network.protocol.version")
	keyAddress   = attribute.Key("server.address")
	keyPort      = attribute.Key("server.port")

	executeTool = "execute_tool"
	// Other is what stands for every value that is not one of a bounded set.
	Other = "_OTHER"
)

// What the conventions have no name for has one of this library's own.
const (
	metricQueue     = "correlator.client.queue.duration"
	metricInFlight  = "correlator.calls.in_flight"
	metricSettled   = "correlator.calls.settled"
	metricRefused   = "correlator.calls.refused"
	metricReclaimed = "correlator.calls.reclaimed"
	metricDropped   = "correlator.answers.dropped"

	metricServerLive     = "correlator.server.requests.in_flight"
	metricServerHandlers = "correlator.server.handlers"
	metricServerOpen     = "correlator.server.connections"
	metricServerDropped  = "correlator.server.messages.dropped"
	metricServerRefused  = "correlator.server.frames.rejected"

	keyTable   = attribute.Key("correlator.table")
	keyOutcome = attribute.Key("correlator.outcome")
	keyKind    = attribute.Key("correlator.kind")
)

// bounds are the bucket boundaries that the conventions advise for all four
// durations, in seconds.
var bounds = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// fineBounds are those of the queue time, which is mostly below a millisecond.
var fineBounds = []float64{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 60}
