package mcp

import "encoding/json"

// Tool is a tool as clients see it.
type Tool struct {
	// Name is 1 to 128 of the bytes A-Z a-z 0-9 . _ / -, unique in a server.
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// InputSchema is the JSON Schema of the arguments, an object. Empty in a tool
	// that NewTool makes: inferred. Empty in any other: an object of any members.
	InputSchema json.RawMessage `json:"inputSchema"`
	// OutputSchema is that of the structured result; empty for none.
	OutputSchema json.RawMessage  `json:"outputSchema,omitempty"`
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
	Icons        []Icon           `json:"icons,omitempty"`
	Meta         Meta             `json:"_meta,omitempty"`
}

// ToolAnnotations are hints about a tool; a client trusts them no more than the
// server.
type ToolAnnotations struct {
	// The hints are false, or what the comment says, where they are left out.
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    bool   `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"` // nil: true
	IdempotentHint  bool   `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"` // nil: true
}

// Resource is a resource as clients see it.
type Resource struct {
	// URI and Name are required; the name is for programs, Title for people.
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MIMEType    string       `json:"mimeType,omitempty"`
	Size        int64        `json:"size,omitempty"` // bytes before encoding; 0 when unknown
	Annotations *Annotations `json:"annotations,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// ResourceTemplate is a family of resources.
type ResourceTemplate struct {
	// URITemplate has variables: {name} takes one or more bytes without a slash,
	// {+name} with slashes too.
	URITemplate string       `json:"uriTemplate"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MIMEType    string       `json:"mimeType,omitempty"`
	Annotations *Annotations `json:"annotations,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// Annotations say for whom content is.
type Annotations struct {
	Audience     []string `json:"audience,omitempty"` // "user", "assistant"
	Priority     *float64 `json:"priority,omitempty"` // 0 to 1
	LastModified string   `json:"lastModified,omitempty"`
}

// Prompt is a prompt as clients see it.
type Prompt struct {
	// Name is required; it is for programs, Title for people.
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
	Icons       []Icon           `json:"icons,omitempty"`
	Meta        Meta             `json:"_meta,omitempty"`
}

// PromptArgument is one argument of a prompt. Their values are strings.
type PromptArgument struct {
	// Name is required; without a Required argument the prompt is refused.
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// ListToolsResult is a page of tools.
type ListToolsResult struct {
	// The page; NextCursor is nil on the last one, and "" is a cursor.
	Tools      []Tool  `json:"tools"`
	NextCursor *string `json:"nextCursor,omitempty"` // nil on the last page; "" is a cursor
	Cached
	Meta Meta `json:"_meta,omitempty"`
}

// ListResourcesResult is a page of resources.
type ListResourcesResult struct {
	// The page; NextCursor is nil on the last one, and "" is a cursor.
	Resources  []Resource `json:"resources"`
	NextCursor *string    `json:"nextCursor,omitempty"`
	Cached
	Meta Meta `json:"_meta,omitempty"`
}

// ListTemplatesResult is a page of resource templates.
type ListTemplatesResult struct {
	// The page; NextCursor is nil on the last one, and "" is a cursor.
	ResourceTemplates []ResourceTemplate `json:"resourceTemplates"`
	NextCursor        *string            `json:"nextCursor,omitempty"`
	Cached
	Meta Meta `json:"_meta,omitempty"`
}

// ListPromptsResult is a page of prompts.
type ListPromptsResult struct {
	// The page; NextCursor is nil on the last one, and "" is a cursor.
	Prompts    []Prompt `json:"prompts"`
	NextCursor *string  `json:"nextCursor,omitempty"`
	Cached
	Meta Meta `json:"_meta,omitempty"`
}
