package client

import (
	"context"
	"iter"

	"github.com/correlator-go/correlator/mcp"
)

// cursorParams are those of the lists. A nil cursor asks for the first page; "" is
// a cursor.
type cursorParams struct {
	Cursor *string `json:"cursor,omitempty"`
}

// ListTools asks for a page of the tools: the first when cursor is nil, else the
// one that NextCursor of the page before names. Over HTTP, tools whose schema marks
// arguments for headers wrongly are left out, as the protocol wants it.
func (c *Client) ListTools(ctx context.Context, cursor *string, o CallOptions) (*mcp.ListToolsResult, error) {
	r, err := ask[mcp.ListToolsResult](ctx, c, mcp.MethodListTools, cursorParams{cursor}, o)
	if err != nil {
		return nil, err
	}
	normalize(&r.Cached)
	r.Tools = c.tools.learn(r.Tools, c.headed())
	return r, nil
}

// ListResources asks for a page of the resources; see ListTools for cursor.
func (c *Client) ListResources(ctx context.Context, cursor *string, o CallOptions) (*mcp.ListResourcesResult, error) {
	r, err := ask[mcp.ListResourcesResult](ctx, c, mcp.MethodListResources, cursorParams{cursor}, o)
	if err == nil {
		normalize(&r.Cached)
	}
	return r, err
}

// ListTemplates asks for a page of the resource templates; see ListTools for cursor.
func (c *Client) ListTemplates(ctx context.Context, cursor *string, o CallOptions) (*mcp.ListTemplatesResult, error) {
	r, err := ask[mcp.ListTemplatesResult](ctx, c, mcp.MethodListTemplates, cursorParams{cursor}, o)
	if err == nil {
		normalize(&r.Cached)
	}
	return r, err
}

// ListPrompts asks for a page of the prompts; see ListTools for cursor.
func (c *Client) ListPrompts(ctx context.Context, cursor *string, o CallOptions) (*mcp.ListPromptsResult, error) {
	r, err := ask[mcp.ListPromptsResult](ctx, c, mcp.MethodListPrompts, cursorParams{cursor}, o)
	if err == nil {
		normalize(&r.Cached)
	}
	return r, err
}

// Tools goes through all tools, page by page. An error is the last thing it
// yields: one of a page's call, or ErrCursorRepeated.
func (c *Client) Tools(ctx context.Context) iter.Seq2[mcp.Tool, error] {
	return pages(func(cursor *string) ([]mcp.Tool, *string, error) {
		r, err := c.ListTools(ctx, cursor, CallOptions{})
		if err != nil {
			return nil, nil, err
		}
		return r.Tools, r.NextCursor, nil
	})
}

// Resources goes through all resources; see Tools.
func (c *Client) Resources(ctx context.Context) iter.Seq2[mcp.Resource, error] {
	return pages(func(cursor *string) ([]mcp.Resource, *string, error) {
		r, err := c.ListResources(ctx, cursor, CallOptions{})
		if err != nil {
			return nil, nil, err
		}
		return r.Resources, r.NextCursor, nil
	})
}

// Templates goes through all resource templates; see Tools.
func (c *Client) Templates(ctx context.Context) iter.Seq2[mcp.ResourceTemplate, error] {
	return pages(func(cursor *string) ([]mcp.ResourceTemplate, *string, error) {
		r, err := c.ListTemplates(ctx, cursor, CallOptions{})
		if err != nil {
			return nil, nil, err
		}
		return r.ResourceTemplates, r.NextCursor, nil
	})
}

// Prompts goes through all prompts; see Tools.
func (c *Client) Prompts(ctx context.Context) iter.Seq2[mcp.Prompt, error] {
	return pages(func(cursor *string) ([]mcp.Prompt, *string, error) {
		r, err := c.ListPrompts(ctx, cursor, CallOptions{})
		if err != nil {
			return nil, nil, err
		}
		return r.Prompts, r.NextCursor, nil
	})
}

// pages follows cursors to their end. A server that gives one twice goes round in a
// circle.
func pages[T any](page func(cursor *string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var (
			cursor *string
			seen   = map[string]struct{}{}
			none   T
		)
		for {
			entries, next, err := page(cursor)
			if err != nil {
				yield(none, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			if _, twice := seen[*next]; twice {
				yield(none, ErrCursorRepeated)
				return
			}
			seen[*next] = struct{}{}
			cursor = next
		}
	}
}

// normalize makes what a result says about being kept comparable between servers:
// absent means complete, stale at once and private.
func normalize(c *mcp.Cached) {
	if c.ResultType == "" {
		c.ResultType = mcp.ResultComplete
	}
	if c.CacheScope == "" {
		c.CacheScope = "private"
	}
	c.TTLMillis = max(c.TTLMillis, 0)
}
