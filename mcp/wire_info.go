package mcp

import "encoding/json"

// Implementation names a program: a server or a client.
type Implementation struct {
	// Name and Version are required; the name is for programs, Title for people.
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	WebsiteURL  string `json:"websiteUrl,omitempty"`
	Icons       []Icon `json:"icons,omitempty"`
}

// Icon is a picture of what it stands beside.
type Icon struct {
	// Src is a URL or data: URI; Sizes are like "48x48", or "any".
	Src      string   `json:"src"`
	MIMEType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"`
	Theme    string   `json:"theme,omitempty"` // "light" or "dark"
}

// Meta is a _meta object: by key, the JSON text of the value.
type Meta map[string]json.RawMessage

// ClientCapabilities is what a client says it can do. A pointer that is nil says
// it cannot.
type ClientCapabilities struct {
	// What the server may ask for: a nil pointer says never. Experimental and
	// Extensions hold the JSON texts of their settings by name.
	Sampling     *SamplingCapability        `json:"sampling,omitempty"`
	Elicitation  *ElicitationCapability     `json:"elicitation,omitempty"`
	Roots        *RootsCapability           `json:"roots,omitempty"`
	Experimental map[string]json.RawMessage `json:"experimental,omitempty"`
	Extensions   map[string]json.RawMessage `json:"extensions,omitempty"`
}

// SamplingCapability is what kinds of sampling a client does.
type SamplingCapability struct {
	// Not nil: the client takes includeContext, or tools.
	Context *struct{} `json:"context,omitempty"`
	Tools   *struct{} `json:"tools,omitempty"`
}

// ElicitationCapability is what modes of elicitation a client has. None named
// means forms.
type ElicitationCapability struct {
	// Not nil: the client shows forms, or opens URLs.
	Form *struct{} `json:"form,omitempty"`
	URL  *struct{} `json:"url,omitempty"`
}

// RootsCapability says that a client has roots; ListChanged that it tells when
// they change (older era).
type RootsCapability struct {
	// Whether changes are told by notifications/roots/list_changed.
	ListChanged bool `json:"listChanged,omitempty"`
}

// ServerCapabilities is what a server says it can do.
type ServerCapabilities struct {
	// What there is to ask for: a nil pointer says nothing. Experimental and
	// Extensions hold the JSON texts of their settings by name.
	Tools        *ListCapability            `json:"tools,omitempty"`
	Resources    *ResourcesCapability       `json:"resources,omitempty"`
	Prompts      *ListCapability            `json:"prompts,omitempty"`
	Completions  *struct{}                  `json:"completions,omitempty"`
	Logging      *struct{}                  `json:"logging,omitempty"`
	Experimental map[string]json.RawMessage `json:"experimental,omitempty"`
	Extensions   map[string]json.RawMessage `json:"extensions,omitempty"`
}

// ListCapability says that there is a list, and whether its changes are told.
type ListCapability struct {
	// Whether changes are told to those who subscribe.
	ListChanged bool `json:"listChanged,omitempty"`
}

// ResourcesCapability is ListCapability for resources, which can be watched one
// by one too.
type ResourcesCapability struct {
	// Whether changes of the list, and of single resources, are told.
	ListChanged bool `json:"listChanged,omitempty"`
	Subscribe   bool `json:"subscribe,omitempty"`
}

// DiscoverResult is the answer to server/discover.
type DiscoverResult struct {
	// SupportedVersions are the modern revisions served, newest first.
	SupportedVersions []string           `json:"supportedVersions"`
	Capabilities      ServerCapabilities `json:"capabilities"`
	Instructions      string             `json:"instructions,omitempty"`
	Cached
	Meta Meta `json:"_meta,omitempty"`
}

// Cached is how long a modern result may be kept, and by whom.
type Cached struct {
	// ResultType is "complete"; TTLMillis counts from the arrival, 0 is stale at once.
	ResultType string `json:"resultType,omitempty"`
	TTLMillis  int64  `json:"ttlMs,omitempty"`
	CacheScope string `json:"cacheScope,omitempty"` // "public" or "private"
}

// InitializeParams is what a client of the older era begins with.
type InitializeParams struct {
	// What the client wants to speak, can do, and calls itself.
	ProtocolVersion string             `json:"protocolVersion"`
	Capabilities    ClientCapabilities `json:"capabilities"`
	ClientInfo      Implementation     `json:"clientInfo"`
}

// InitializeResult is the answer to it.
type InitializeResult struct {
	// What is spoken from here on, what the server can do, and calls itself.
	ProtocolVersion string             `json:"protocolVersion"`
	Capabilities    ServerCapabilities `json:"capabilities"`
	ServerInfo      Implementation     `json:"serverInfo"`
	Instructions    string             `json:"instructions,omitempty"`
	Meta            Meta               `json:"_meta,omitempty"`
}

// UnsupportedVersionData is the data of a CodeUnsupportedVersion error.
type UnsupportedVersionData struct {
	// What the server speaks, and what it was asked for.
	Supported []string `json:"supported"`
	Requested string   `json:"requested"`
}

// MissingCapabilityData is the data of a CodeMissingCapability error.
type MissingCapabilityData struct {
	// What the client would have had to declare.
	RequiredCapabilities ClientCapabilities `json:"requiredCapabilities"`
}

// NotFoundData is the data of the error for a resource that is not there.
type NotFoundData struct {
	// The resource as it was asked for.
	URI string `json:"uri"`
}

// ListenFilter is what a subscription wants to hear of, and in the
// acknowledgement, what it will.
type ListenFilter struct {
	// The kinds of change, and the URIs of single resources.
	ToolsListChanged      bool     `json:"toolsListChanged,omitempty"`
	PromptsListChanged    bool     `json:"promptsListChanged,omitempty"`
	ResourcesListChanged  bool     `json:"resourcesListChanged,omitempty"`
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitempty"`
}

// ProgressParams are those of notifications/progress.
type ProgressParams struct {
	// The token is the JSON text of the one that the request brought; a Total of 0 is
	// unknown.
	ProgressToken json.RawMessage `json:"progressToken"`
	Progress      float64         `json:"progress"`
	Total         float64         `json:"total,omitempty"`
	Message       string          `json:"message,omitempty"`
}

// MessageParams are those of notifications/message.
type MessageParams struct {
	// Level is the name of a Level; Data is any JSON text.
	Level  string          `json:"level"`
	Logger string          `json:"logger,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// CancelledParams are those of notifications/cancelled.
type CancelledParams struct {
	// The JSON text of the id of the request, and a reason for people.
	RequestID json.RawMessage `json:"requestId,omitempty"`
	Reason    string          `json:"reason,omitempty"`
}
