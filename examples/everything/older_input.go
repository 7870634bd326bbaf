package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/correlator-go/correlator/mcp"
)

const (
	userForm = `{"type":"object","properties":{"username":{"type":"string","description":"User's response"},` +
		`"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`
	defaultsForm = `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},` +
		`"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},` +
		`"verified":{"type":"boolean","default":true}}}`
	enumsForm = `{"type":"object","properties":{` +
		`"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},` +
		`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},` +
		`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},` +
		`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},` +
		`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`
)

type prompted struct {
	Prompt string `json:"prompt" jsonschema:"what to ask the model"`
}

type shown struct {
	Message string `json:"message" jsonschema:"what to show the user"`
}

// olderInputTools ask as the older era knows it; in the modern one they ask in
// rounds, like the others.
func olderInputTools() []mcp.ServerTool {
	return []mcp.ServerTool{
		mcp.NewTool(mcp.Tool{Name: "test_sampling", Description: "Asks the client's model"},
			func(_ context.Context, r *mcp.Request, in prompted) (*mcp.ToolResult, error) {
				if text, ok := sampled(r, "model"); ok {
					return mcp.ToolText("LLM response: " + text), nil
				}
				return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"model": sample(in.Prompt, 100)}}
			}),
		mcp.NewTool(mcp.Tool{Name: "test_elicitation", Description: "Asks the user"},
			func(_ context.Context, r *mcp.Request, in shown) (*mcp.ToolResult, error) {
				return elicited(r, in.Message, userForm, "User response: action=%s, content=%s")
			}),
		tool("test_elicitation_sep1034_defaults", "Asks the user, with a form that has defaults",
			func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
				return elicited(r, "Please review the form", defaultsForm, "Elicitation completed: action=%s, content=%s")
			}),
		tool("test_elicitation_sep1330_enums", "Asks the user, with a form of choices",
			func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
				return elicited(r, "Please choose", enumsForm, "Elicitation completed: action=%s, content=%s")
			}),
	}
}

// elicited asks with a form and tells what came back.
func elicited(r *mcp.Request, message, schema, format string) (*mcp.ToolResult, error) {
	text, there := r.Input("user")
	var answer mcp.ElicitResult
	if !there || json.Unmarshal(text, &answer) != nil || answer.Action == "" {
		return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"user": form(message, schema)}}
	}
	if len(answer.Content) == 0 {
		answer.Content = json.RawMessage("{}")
	}
	return mcp.ToolText(fmt.Sprintf(format, answer.Action, answer.Content)), nil
}
