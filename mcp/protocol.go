package mcp

import "slices"

// Revision is a revision of the protocol, named by its date. Revisions compare
// as strings: a later one is greater.
type Revision string

// The revisions that are served. Those from Modern on are stateless, every
// request bringing its own _meta; those before it begin with initialize.
const (
	Revision20260728 Revision = "2026-07-28"
	Revision20251125 Revision = "2025-11-25"
	Revision20250618 Revision = "2025-06-18"
	Revision20250326 Revision = "2025-03-26"

	// Modern is the first revision without a handshake.
	Modern = Revision20260728
	// NewestLegacy is the newest one with a handshake: what an unknown version in
	// initialize is answered with.
	NewestLegacy = Revision20251125
)

// IsModern reports whether r has no handshake. The empty revision, that of a
// connection on which no version was named yet, is not modern.
func (r Revision) IsModern() bool { return r >= Modern }

// HasBatches reports whether r has batches: 2025-03-26 alone.
func (r Revision) HasBatches() bool { return r == Revision20250326 }

// Revisions returns the revisions that are served, newest first. The slice is
// the caller's.
func Revisions() []Revision {
	return []Revision{Revision20260728, Revision20251125, Revision20250618, Revision20250326}
}

// IsLegacy reports whether r is one of Revisions that begins with initialize.
func (r Revision) IsLegacy() bool { return !r.IsModern() && slices.Contains(Revisions(), r) }

// The methods of requests from client to server, in both eras.
const (
	MethodDiscover      = "server/discover"
	MethodListTools     = "tools/list"
	MethodCallTool      = "tools/call"
	MethodListResources = "resources/list"
	MethodListTemplates = "resources/templates/list"
	MethodReadResource  = "resources/read"
	MethodListPrompts   = "prompts/list"
	MethodGetPrompt     = "prompts/get"
	MethodComplete      = "completion/complete"
	MethodListen        = "subscriptions/listen"
	MethodInitialize    = "initialize"            // older era
	MethodPing          = "ping"                  // older era, both ways
	MethodSetLevel      = "logging/setLevel"      // older era
	MethodSubscribe     = "resources/subscribe"   // older era
	MethodUnsubscribe   = "resources/unsubscribe" // older era
	MethodCreateMessage = "sampling/createMessage"
	MethodElicit        = "elicitation/create"
	MethodListRoots     = "roots/list"
)

// The notifications, of both sides.
const (
	NoteInitialized      = "notifications/initialized" // older era
	NoteCancelled        = "notifications/cancelled"
	NoteProgress         = "notifications/progress"
	NoteMessage          = "notifications/message"
	NoteToolsChanged     = "notifications/tools/list_changed"
	NotePromptsChanged   = "notifications/prompts/list_changed"
	NoteResourcesChanged = "notifications/resources/list_changed"
	NoteResourceUpdated  = "notifications/resources/updated"
	NoteAcknowledged     = "notifications/subscriptions/acknowledged"
	NoteRootsChanged     = "notifications/roots/list_changed"   // older era
	NoteElicitationEnded = "notifications/elicitation/complete" // older era
)

// The keys of _meta that the protocol names.
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	MetaProgressToken      = "progressToken"
	MetaTraceParent        = "traceparent"
	MetaTraceState         = "tracestate"
	MetaBaggage            = "baggage"

	// MetaCorrelation carries a request's correlation value, where the transport
	// brings none.
	MetaCorrelation = "io.github.gleam-dream/correlation"
	// MetaIdempotencyKey names what a repeated call must not do twice.
	MetaIdempotencyKey = "io.github.gleam-dream/idempotency-key"
)

// Codes of MCP beside those of JSON-RPC, which codec has.
const (
	// CodeHeaderMismatch: an HTTP header is missing, malformed or differs from
	// the body.
	CodeHeaderMismatch = -32020
	// CodeMissingCapability: data.requiredCapabilities says what the client must
	// declare.
	CodeMissingCapability = -32021
	// CodeUnsupportedVersion: data has supported and requested.
	CodeUnsupportedVersion = -32022
	// CodeResourceNotFound is that of the older era; the modern one has
	// codec.CodeInvalidParams with data.uri.
	CodeResourceNotFound = -32002
)

// What resultType says in a modern result. An absent one means complete.
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
)

// PageSize is how many entries a page of a list has at most.
const PageSize = 100
