package mcp

import "encoding/json"

// ToolResult is the result of tools/call.
type ToolResult struct {
	// Content is what a model reads; nil is written as an empty list.
	Content []Content `json:"content"`
	// Structured is the JSON text of the structured result; nil for none. The
	// older era takes objects only, so that others are left out there.
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	// IsError says that the tool failed in a way that the model can read about in
	// Content.
	IsError bool `json:"isError,omitempty"`
	Meta    Meta `json:"_meta,omitempty"`
	// ResultType and what follows it are read by clients; servers leave them
	// empty and return InputRequired instead.
	ResultType    string                  `json:"resultType,omitempty"`
	InputRequests map[string]InputRequest `json:"inputRequests,omitempty"`
	RequestState  *string                 `json:"requestState,omitempty"`
}

// ReadResult is the result of resources/read.
type ReadResult struct {
	// Contents are the parts; Cached, when it is set, stands before the Cache of the
	// description.
	Contents []Contents `json:"contents"`
	Cached
	Meta Meta `json:"_meta,omitempty"`
}

// Contents is the content of a resource: text, or a blob when Blob is not nil.
type Contents struct {
	// URI is that of this part.
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitempty"`
	Text     string `json:"text"`
	Blob     []byte `json:"blob,omitempty"` // base64 on the wire
	Meta     Meta   `json:"_meta,omitempty"`
}

// PromptResult is the result of prompts/get.
type PromptResult struct {
	// Messages begin a conversation.
	Description string          `json:"description,omitempty"`
	Messages    []PromptMessage `json:"messages"`
	Meta        Meta            `json:"_meta,omitempty"`
	// ResultType and what follows it are read by clients, as in ToolResult.
	ResultType    string                  `json:"resultType,omitempty"`
	InputRequests map[string]InputRequest `json:"inputRequests,omitempty"`
	RequestState  *string                 `json:"requestState,omitempty"`
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	// Role is "user" or "assistant".
	Role    string  `json:"role"` // "user" or "assistant"
	Content Content `json:"content"`
}

// Completion is what completion/complete asks for.
type Completion struct {
	// Prompt is the name of the prompt, or "" where URI is the template's or the
	// resource's.
	Prompt, URI string
	// Argument is the name of what is completed, Value what was typed so far.
	Argument, Value string
	// Context holds the arguments that are known already.
	Context map[string]string
}

// CompletionResult is the completion.
type CompletionResult struct {
	// Values are at most 100; more are cut off and HasMore is set.
	Values  []string `json:"values"`
	Total   int      `json:"total,omitempty"` // 0 when unknown
	HasMore bool     `json:"hasMore,omitempty"`
}

// InputRequest is one thing that a handler wants from the client before it can
// go on: MethodElicit, MethodCreateMessage or MethodListRoots, with its params.
type InputRequest struct {
	// The method, and the JSON text of its params; nil is none.
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// ElicitParams are those of elicitation/create.
type ElicitParams struct {
	// Mode is "form", which "" means, or "url". A form has a RequestedSchema, a URL
	// the members behind it.
	Mode            string          `json:"mode,omitempty"` // "form", which "" means, or "url"
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"` // of a form
	URL             string          `json:"url,omitempty"`
	ElicitationID   string          `json:"elicitationId,omitempty"`
}

// ElicitResult is the answer to it.
type ElicitResult struct {
	// Action is "accept", "decline" or "cancel"; Content is what the form holds.
	Action  string          `json:"action"` // "accept", "decline" or "cancel"
	Content json.RawMessage `json:"content,omitempty"`
}

// SamplingParams are those of sampling/createMessage.
type SamplingParams struct {
	// The conversation, and the most tokens that the answer may have.
	Messages         []SamplingMessage `json:"messages"`
	MaxTokens        int               `json:"maxTokens"`
	SystemPrompt     string            `json:"systemPrompt,omitempty"`
	Temperature      *float64          `json:"temperature,omitempty"`
	StopSequences    []string          `json:"stopSequences,omitempty"`
	ModelPreferences json.RawMessage   `json:"modelPreferences,omitempty"`
	IncludeContext   string            `json:"includeContext,omitempty"`
	Metadata         json.RawMessage   `json:"metadata,omitempty"`
}

// SamplingMessage is one message of them.
type SamplingMessage struct {
	// Role is "user" or "assistant".
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// SamplingResult is the answer to them.
type SamplingResult struct {
	// The message, the model that wrote it, and why it stopped.
	Role       string  `json:"role"`
	Content    Content `json:"content"`
	Model      string  `json:"model"`
	StopReason string  `json:"stopReason,omitempty"`
}

// RootsResult is the answer to roots/list.
type RootsResult struct {
	// The roots, in the client's order.
	Roots []Root `json:"roots"`
}

// Root is a place that the client lets the server look at.
type Root struct {
	// URI begins with file://; Name is for people.
	URI  string `json:"uri"` // file://
	Name string `json:"name,omitempty"`
}
