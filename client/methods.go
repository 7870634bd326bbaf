package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// CallTool calls a tool. arguments is encoded as JSON and must give an object; nil
// sends none. A tool that failed in a way meant for the model is a result with
// IsError, not an error.
func (c *Client) CallTool(ctx context.Context, name string, arguments any, o CallOptions) (*mcp.ToolResult, error) {
	text, err := argumentsText(arguments)
	if err != nil {
		return nil, err
	}
	headers, err := c.paramHeaders(name, text)
	if err != nil {
		return nil, err
	}
	params := struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}{name, text}
	o.about = name
	r, err := ask[mcp.ToolResult](ctx, c, mcp.MethodCallTool, params, o, headers...)
	if e, ok := errors.AsType[*codec.Error](err); ok && e.Code == mcp.CodeHeaderMismatch && c.headed() {
		// The tool's schema was never listed here, or has changed: nothing was called.
		for _, err := range c.Tools(ctx) {
			if err != nil {
				return nil, err
			}
		}
		if headers, err = c.paramHeaders(name, text); err != nil {
			return nil, err
		}
		r, err = ask[mcp.ToolResult](ctx, c, mcp.MethodCallTool, params, o, headers...)
	}
	if err != nil {
		return nil, err
	}
	if r.ResultType == "" {
		r.ResultType = mcp.ResultComplete
	}
	return r, nil
}

// Structured decodes the structured result of a tool. That of a tool that failed is
// ErrToolFailed; a result without a structured one, and one that does not fit T, are
// conn.ErrInvalidAnswer.
func Structured[T any](r *mcp.ToolResult) (T, error) {
	var v T
	if r.IsError {
		for _, block := range r.Content {
			if block.Type == mcp.TypeText {
				return v, fmt.Errorf("%w: %s", ErrToolFailed, block.Text)
			}
		}
		return v, ErrToolFailed
	}
	if len(r.Structured) == 0 {
		return v, invalid(mcp.MethodCallTool, "no structured result")
	}
	return v, decode(mcp.MethodCallTool, r.Structured, &v)
}

// ReadResource reads a resource. One that does not exist is a *codec.Error, with
// codec.CodeInvalidParams from a modern server and mcp.CodeResourceNotFound from an
// older one.
func (c *Client) ReadResource(ctx context.Context, uri string, o CallOptions) (*mcp.ReadResult, error) {
	params := struct {
		URI string `json:"uri"`
	}{uri}
	o.about = uri
	r, err := ask[mcp.ReadResult](ctx, c, mcp.MethodReadResource, params, o)
	if err == nil {
		normalize(&r.Cached)
	}
	return r, err
}

// GetPrompt fills in a prompt.
func (c *Client) GetPrompt(ctx context.Context, name string, arguments map[string]string, o CallOptions) (*mcp.PromptResult, error) {
	params := struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments,omitempty"`
	}{name, arguments}
	o.about = name
	r, err := ask[mcp.PromptResult](ctx, c, mcp.MethodGetPrompt, params, o)
	if err == nil && r.ResultType == "" {
		r.ResultType = mcp.ResultComplete
	}
	return r, err
}

// Complete asks for the completion of an argument of a prompt or a template.
func (c *Client) Complete(ctx context.Context, q mcp.Completion, o CallOptions) (*mcp.CompletionResult, error) {
	type reference struct {
		Type string `json:"type"`
		Name string `json:"name,omitempty"`
		URI  string `json:"uri,omitempty"`
	}
	type argument struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	type known struct {
		Arguments map[string]string `json:"arguments"`
	}
	params := struct {
		Ref      reference `json:"ref"`
		Argument argument  `json:"argument"`
		Context  *known    `json:"context,omitempty"`
	}{reference{"ref/prompt", q.Prompt, ""}, argument{q.Argument, q.Value}, nil}
	if q.Prompt == "" {
		params.Ref = reference{"ref/resource", "", q.URI}
	}
	if len(q.Context) > 0 {
		params.Context = &known{q.Context}
	}
	r, err := ask[struct {
		Completion mcp.CompletionResult `json:"completion"`
	}](ctx, c, mcp.MethodComplete, params, o)
	if err != nil {
		return nil, err
	}
	return &r.Completion, nil
}
