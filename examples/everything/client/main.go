package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: client URL")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// scenario is what the suite says about the run.
type scenario struct {
	ToolCalls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

func run(ctx context.Context, url string) error {
	var s scenario
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	o := client.Options{
		Info: mcp.Implementation{Name: "correlator-everything-client", Version: "1.0.0"},
		Elicit: func(_ context.Context, p mcp.ElicitParams) (mcp.ElicitResult, error) {
			content, err := json.Marshal(arguments(p.RequestedSchema, nil)) // what has a default is left to it
			return mcp.ElicitResult{Action: "accept", Content: content}, err
		},
		Sample: func(context.Context, mcp.SamplingParams) (mcp.SamplingResult, error) {
			return mcp.SamplingResult{Role: "assistant", Content: mcp.Text("Paris"), Model: "none"}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///", Name: "root"}}, nil },
	}
	if v := mcp.Revision(os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")); v.IsLegacy() {
		o.Era, o.Legacy = client.EraLegacy, v
	}
	c, err := client.Connect(ctx, client.HTTP{Endpoint: url}, o)
	if err != nil {
		return err
	}
	defer c.Close()
	return errors.Join(tools(ctx, c, s), resources(ctx, c), prompts(ctx, c))
}

// tools calls what the scenario names, else every tool with arguments made up.
func tools(ctx context.Context, c *client.Client, s scenario) error {
	var all []mcp.Tool
	for t, err := range c.Tools(ctx) {
		if err != nil {
			return unless(err)
		}
		all = append(all, t)
	}
	if len(s.ToolCalls) > 0 {
		for _, call := range s.ToolCalls {
			if _, err := c.CallTool(ctx, call.Name, call.Arguments, client.CallOptions{}); err != nil {
				return fmt.Errorf("%s: %w", call.Name, err)
			}
		}
		return nil
	}
	// All at once, so that what belongs to one call would show in another.
	failures := make(chan error, len(all))
	for _, t := range all {
		go func() {
			_, err := c.CallTool(ctx, t.Name, arguments(t.InputSchema, all[0].InputSchema), client.CallOptions{Progress: func(mcp.Progress) {}})
			if err = unless(err); err != nil {
				err = fmt.Errorf("%s: %w", t.Name, err)
			}
			failures <- err
		}()
	}
	var failed error
	for range all {
		failed = errors.Join(failed, <-failures)
	}
	return failed
}

// arguments makes up a value for each property of a schema that has no default; an object is given a
// schema, byte for byte as the server sent it. It reads no more of the schema, and
// fetches nothing that it refers to.
func arguments(schema, object json.RawMessage) map[string]any {
	var s struct {
		Properties map[string]struct {
			Type    any             `json:"type"`
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	made := map[string]any{}
	for name, p := range s.Properties {
		if p.Default != nil {
			continue
		}
		switch p.Type {
		case "string":
			made[name] = "text"
		case "integer", "number":
			made[name] = 2
		case "boolean":
			made[name] = true
		case "object":
			made[name] = object
		}
	}
	return made
}

func resources(ctx context.Context, c *client.Client) error {
	for r, err := range c.Resources(ctx) {
		if err != nil {
			return unless(err)
		}
		if _, err := c.ReadResource(ctx, r.URI, client.CallOptions{}); err != nil {
			return fmt.Errorf("%s: %w", r.URI, err)
		}
	}
	return nil
}

func prompts(ctx context.Context, c *client.Client) error {
	for p, err := range c.Prompts(ctx) {
		if err != nil {
			return unless(err)
		}
		given := map[string]string{}
		for _, a := range p.Arguments {
			given[a.Name] = "text"
		}
		if _, err := c.GetPrompt(ctx, p.Name, given, client.CallOptions{}); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// unless is err unless it says that the server does not have what was asked for.
func unless(err error) error {
	if errors.Is(err, &codec.Error{Code: codec.CodeMethodNotFound}) {
		return nil
	}
	return err
}
