package mcp

import "context"

// Description is everything that a server has to offer. NewServer checks it and
// makes a Server of it. Nothing in it may be changed afterwards.
type Description struct {
	// Info names the server; Name and Version are required.
	Info Implementation
	// Instructions tell a model how to use the server; "" leaves them out.
	Instructions string
	// Revisions are those that are served; nil means all of Revisions(). A server
	// without a modern one, or without an older one, is fine.
	Revisions []Revision
	// Tools, Resources, Templates and Prompts are listed in this order.
	Tools     []ServerTool
	Resources []ServerResource
	Templates []ServerTemplate
	Prompts   []ServerPrompt
	// Complete completes the arguments of prompts and templates; nil: the server
	// has no completion.
	Complete CompleteHandler
	// Logging says that handlers log to the client (deprecated in the modern
	// era): it is declared, and logging/setLevel served.
	Logging bool
	// Cache is what clients are told about keeping lists and discovery.
	Cache Cache
	// Key authenticates cursors and request states: at least 16 bytes, secret.
	// What one server gave out is good for every connection of every server with
	// the same key. Nil draws one at random in NewServer, so that nothing survives
	// the process.
	Key []byte
	// StateTTLMillis is how old a request state may be, in milliseconds; 0 means
	// 15 minutes, negative without bound. It is judged by Received.At.
	StateTTLMillis int64
	// Experimental and Extensions are declared as they are: by name, the JSON
	// text of the settings.
	Experimental, Extensions Meta
}

// Cache is how long clients may keep something. The zero value is not at all, and
// for nobody else.
type Cache struct {
	// TTLMillis is how long what was answered stays good, in milliseconds; 0 and
	// negative: it is stale at once.
	TTLMillis int64 // 0 and negative: stale at once
	// Public says that what is kept may be shown to other callers. Lists with an
	// entry that not everybody sees are never public.
	Public bool
}

// Visible says whether a caller sees an entry of the description. One that is
// hidden is not listed, and asking for it is answered as if it did not exist. It
// is called within Step: it must be quick, call nothing that blocks, and give the
// same answer for the same caller. Nil shows the entry to everybody.
type Visible func(Caller) bool

// ServerTool is a tool and what answers for it.
type ServerTool struct {
	Tool
	// Handle does the work; NewTool makes one from a typed function.
	Handle ToolHandler
	// Visible hides the tool, Callable lists it but lets others alone call it.
	Visible, Callable Visible
	// Requires are the capabilities that a client must have declared.
	Requires ClientCapabilities

	err error // of NewTool, told by NewServer
}

// ToolHandler does the work of a tool. ctx ends when the call is cancelled, for
// whatever reason. What it returns:
//
//   - a result: written as it is;
//   - an *InputRequired error: the client is asked, and the handler is run again
//     with the answers;
//   - a *codec.Error: the call fails with it;
//   - any other error: a result that says IsError and shows the model the error's
//     text.
type ToolHandler func(ctx context.Context, r *Request) (*ToolResult, error)

// ServerResource is a resource and what reads it.
type ServerResource struct {
	Resource
	// Handle reads it.
	Handle ResourceHandler
	// Visible hides it.
	Visible Visible
	// Cache is for its content.
	Cache Cache
}

// ServerTemplate is a family of resources and what reads them.
type ServerTemplate struct {
	ResourceTemplate
	// Handle reads one of them; the request's Variable gives the parts of its URI.
	Handle ResourceHandler
	// Visible hides the family.
	Visible Visible
	// Cache is for the content of its members.
	Cache Cache
}

// ResourceHandler reads a resource. ErrNotFound, wrapped or not, is answered as a
// resource that does not exist, a *codec.Error with itself, any other error as an
// internal one without its text.
type ResourceHandler func(ctx context.Context, r *Request) (*ReadResult, error)

// ServerPrompt is a prompt and what fills it in.
type ServerPrompt struct {
	Prompt
	// Handle fills it in.
	Handle PromptHandler
	// Visible hides it.
	Visible Visible
}

// PromptHandler fills in a prompt. An *InputRequired error asks the client, a
// *codec.Error is answered with itself, any other error as invalid params without
// its text.
type PromptHandler func(ctx context.Context, r *Request) (*PromptResult, error)

// CompleteHandler completes an argument. A *codec.Error is answered with itself,
// any other error as an internal one without its text.
type CompleteHandler func(ctx context.Context, r *Request, c Completion) (*CompletionResult, error)
