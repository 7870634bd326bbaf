package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/correlator-go/correlator/mcp"
)

// form is an elicitation of one form.
func form(message, schema string) mcp.InputRequest {
	return mcp.Elicit(mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
}

// sample asks the client's model one thing.
func sample(text string, tokens int) mcp.InputRequest {
	return mcp.Sample(mcp.SamplingParams{MaxTokens: tokens, Messages: []mcp.SamplingMessage{{Role: "user", Content: mcp.Text(text)}}})
}

const (
	nameForm    = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	colorForm   = `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`
	confirmForm = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	contextForm = `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`
)

// accepted is one member of a form that the user filled in; ok is false when the
// client gave no such answer, which is then asked for once more.
func accepted[T any](r *mcp.Request, key, member string) (value T, ok bool) {
	text, there := r.Input(key)
	var answer struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	if !there || json.Unmarshal(text, &answer) != nil || answer.Action != "accept" {
		return value, false
	}
	return value, json.Unmarshal(answer.Content[member], &value) == nil
}

// sampled is the text that the client's model gave.
func sampled(r *mcp.Request, key string) (string, bool) {
	text, there := r.Input(key)
	var answer mcp.SamplingResult
	if !there || json.Unmarshal(text, &answer) != nil || answer.Content.Type != mcp.TypeText {
		return "", false
	}
	return answer.Content.Text, true
}

// rooted are the client's roots.
func rooted(r *mcp.Request, key string) ([]mcp.Root, bool) {
	text, there := r.Input(key)
	var answer struct {
		Roots *[]mcp.Root `json:"roots"`
	}
	if !there || json.Unmarshal(text, &answer) != nil || answer.Roots == nil {
		return nil, false
	}
	return *answer.Roots, true
}

// inputTools ask for input first: each runs again from its beginning when the
// answers are there.
func inputTools() []mcp.ServerTool {
	return []mcp.ServerTool{
		tool("test_input_required_result_elicitation", "Asks for a name", func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			if name, ok := accepted[string](r, "user_name", "name"); ok {
				return mcp.ToolText("Hello, " + name + "!"), nil
			}
			return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"user_name": form("What is your name?", nameForm)}}
		}),
		tool("test_input_required_result_sampling", "Asks the client's model", func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			if text, ok := sampled(r, "capital_question"); ok {
				return mcp.ToolText(text), nil
			}
			return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"capital_question": sample("What is the capital of France?", 100)}}
		}),
		tool("test_input_required_result_list_roots", "Asks for the roots", func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			if roots, ok := rooted(r, "client_roots"); ok {
				return mcp.ToolText(fmt.Sprintf("Roots: %v", roots)), nil
			}
			return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"client_roots": mcp.ListRoots()}}
		}),
		tool("test_input_required_result_request_state", "Asks, and keeps state with the client", withState),
		tool("test_input_required_result_tampered_state", "Asks, with a state that must come back as it was", withState),
		tool("test_input_required_result_multiple_inputs", "Asks for three things at once", multiple),
		tool("test_input_required_result_multi_round", "Asks twice", twoRounds),
		tool("test_input_required_result_capabilities", "Asks for what the client can give", capable),
		tool("test_streaming_elicitation", "Reports progress, then asks", func(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			if err := r.Report(ctx, mcp.Progress{Value: 1, Total: 2}); err != nil {
				return nil, err
			}
			if name, ok := accepted[string](r, "name", "name"); ok {
				return mcp.ToolText("Hello, " + name + "!"), nil
			}
			return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"name": form("What is your name?", nameForm)}}
		}),
	}
}

func withState(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
	if _, ok := accepted[bool](r, "confirm", "ok"); ok && r.State() == "confirming" {
		return mcp.ToolText("state-ok"), nil
	}
	return nil, &mcp.InputRequired{
		Requests: map[string]mcp.InputRequest{"confirm": form("Please confirm", confirmForm)}, State: "confirming",
	}
}

func multiple(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
	name, named := accepted[string](r, "user_name", "name")
	greeting, greeted := sampled(r, "greeting")
	roots, listed := rooted(r, "client_roots")
	if named && greeted && listed {
		return mcp.ToolText(fmt.Sprintf("%s, %s! %d roots", greeting, name, len(roots))), nil
	}
	return nil, &mcp.InputRequired{State: "asking", Requests: map[string]mcp.InputRequest{
		"user_name": form("What is your name?", nameForm), "greeting": sample("Generate a greeting", 50), "client_roots": mcp.ListRoots(),
	}}
}

// twoRounds keeps the first answer in the state, since the server keeps nothing.
func twoRounds(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
	if name := r.State(); name != "" {
		if color, ok := accepted[string](r, "step2", "color"); ok {
			return mcp.ToolText(fmt.Sprintf("%s likes %s.", name, color)), nil
		}
		return nil, &mcp.InputRequired{State: name, Requests: map[string]mcp.InputRequest{"step2": form("Step 2: What is your favorite color?", colorForm)}}
	}
	if name, ok := accepted[string](r, "step1", "name"); ok && name != "" {
		return nil, &mcp.InputRequired{State: name, Requests: map[string]mcp.InputRequest{"step2": form("Step 2: What is your favorite color?", colorForm)}}
	}
	return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"step1": form("Step 1: What is your name?", nameForm)}}
}

func capable(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
	can := r.ClientCapabilities()
	ask := map[string]mcp.InputRequest{}
	if _, done := r.Input("model"); can.Sampling != nil && !done {
		ask["model"] = sample("Say something", 20)
	}
	if _, done := r.Input("user"); can.Elicitation != nil && !done {
		ask["user"] = form("What is your name?", nameForm)
	}
	if _, done := r.Input("roots"); can.Roots != nil && !done {
		ask["roots"] = mcp.ListRoots()
	}
	if len(ask) == 0 {
		return mcp.ToolText("Nothing is left to ask."), nil
	}
	return nil, &mcp.InputRequired{Requests: ask}
}
