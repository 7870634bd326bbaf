package main

import (
	"context"
	"encoding/json"

	"github.com/correlator-go/correlator/mcp"
)

// richSchema uses what JSON Schema 2020-12 has, to be passed on untouched.
const richSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
	`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},` +
	`"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
	`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},` +
	`"else":{"required":["email"]},"additionalProperties":false}`

// headerSchema has arguments that are repeated in HTTP headers.
const headerSchema = `{"type":"object","properties":{"region":{"type":"string","description":"Where to look","x-mcp-header":"Region"},` +
	`"query":{"type":"string"}},"required":["region"]}`

// diagnosticTools make a server do what a client wants to see.
func (e *everything) diagnosticTools() []mcp.ServerTool {
	told := func(kind mcp.NotificationKind) func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
		return func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
			e.server.Notify(mcp.Notification{Kind: kind})
			return mcp.ToolText("changed"), nil
		}
	}
	fine := func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return mcp.ToolText("ok"), nil }
	needs := tool("test_missing_capability", "Wants a client that does sampling", fine)
	needs.Requires = mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}
	return []mcp.ServerTool{
		tool("test_trigger_tool_change", "Tells subscribers that the tools changed", told(mcp.ToolsChanged)),
		tool("test_trigger_prompt_change", "Tells subscribers that the prompts changed", told(mcp.PromptsChanged)),
		tool("test_trigger_resource_update", "Tells subscribers that the watched resource changed", func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
			e.server.Notify(mcp.Notification{Kind: mcp.ResourceUpdated, URI: watchedURI})
			return mcp.ToolText("changed"), nil
		}),
		needs,
		{
			Tool:   mcp.Tool{Name: "json_schema_2020_12_tool", Description: "Tool with JSON Schema 2020-12 features", InputSchema: json.RawMessage(richSchema)},
			Handle: fine,
		},
		{
			Tool:   mcp.Tool{Name: "test_headers", Description: "Has an argument that is repeated in a header", InputSchema: json.RawMessage(headerSchema)},
			Handle: fine,
		},
	}
}
