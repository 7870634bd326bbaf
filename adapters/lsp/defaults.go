package lsp

import (
	"context"
	"encoding/json"
	"strings"
)

var (
	jsonNull       = json.RawMessage("null")
	notShown       = json.RawMessage(`{"success":false}`)
	notApplied     = json.RawMessage(`{"applied":false,"failureReason":"this client applies no edits"}`)
	answersNothing = func(context.Context, json.RawMessage) (any, error) { return nil, nil }
)

// byItself is what answers a request of the server for which the program has no handler
// of its own, nil if nothing does; Options.OnRequest lists it.
func (c *Client) byItself(method string) RequestHandler {
	switch method {
	case "workspace/configuration":
		return HandleRequest(c.configuration)
	case "workspace/workspaceFolders":
		return func(context.Context, json.RawMessage) (any, error) { return c.workspaceFolders(), nil }
	case "workspace/applyEdit":
		return func(context.Context, json.RawMessage) (any, error) { return notApplied, nil }
	case "window/showDocument":
		return func(context.Context, json.RawMessage) (any, error) { return notShown, nil }
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
		return answersNothing
	}
	if strings.HasPrefix(method, "workspace/") && strings.HasSuffix(method, "/refresh") {
		return answersNothing
	}
	return nil
}

type configurationParams struct {
	Items []struct {
		Section string `json:"section"`
	} `json:"items"`
}

// configuration answers each item with the settings of its section.
func (c *Client) configuration(_ context.Context, p configurationParams) ([]any, error) {
	values := make([]any, len(p.Items))
	for i, item := range p.Items {
		values[i] = c.o.Settings[item.Section]
	}
	return values, nil
}

// workspaceFolders are those that Initialize told of, null for none.
func (c *Client) workspaceFolders() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folders == nil {
		return jsonNull
	}
	return c.folders
}
