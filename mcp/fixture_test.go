package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

var fixtureKey = []byte("a key that is only for the tests")

type greetIn struct {
	Name  string `json:"name" jsonschema:"who is greeted"`
	Times int    `json:"times,omitempty"`
}

type greetOut struct {
	Greeting string `json:"greeting"`
}

func greet(_ context.Context, _ *mcp.Request, in greetIn) (greetOut, error) {
	return greetOut{Greeting: strings.Repeat("Hello, "+in.Name+"! ", max(in.Times, 1))}, nil
}

type echoIn struct {
	Text string `json:"text"`
}

func echo(_ context.Context, _ *mcp.Request, in echoIn) (string, error) { return in.Text, nil }

func failing(context.Context, *mcp.Request, struct{}) (string, error) {
	return "", errors.New("the well is dry")
}

// asking needs a name, and then a color.
func asking(_ context.Context, r *mcp.Request, _ struct{}) (string, error) {
	if answer, ok := r.Input("color"); ok {
		return fmt.Sprintf("round %d: %s and %s", r.Round(), r.State(), answer), nil
	}
	if answer, ok := r.Input("name"); ok {
		return "", &mcp.InputRequired{
			Requests: map[string]mcp.InputRequest{"color": mcp.Elicit(mcp.ElicitParams{Message: "Which color?"})},
			State:    string(answer),
		}
	}
	return "", &mcp.InputRequired{Requests: map[string]mcp.InputRequest{
		"name":  mcp.Elicit(mcp.ElicitParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type": "object"}`)}),
		"roots": mcp.ListRoots(),
	}}
}

func everything() mcp.Description {
	return mcp.Description{
		Info:         mcp.Implementation{Name: "fixture", Version: "1.0.0"},
		Instructions: "Be kind.",
		Key:          fixtureKey,
		Logging:      true,
		Tools: []mcp.ServerTool{
			mcp.NewTool(mcp.Tool{Name: "echo", Description: "says it again"}, echo),
			mcp.NewTool(mcp.Tool{Name: "greet"}, greet),
			mcp.NewTool(mcp.Tool{Name: "fail"}, failing),
			mcp.NewTool(mcp.Tool{Name: "ask"}, asking),
			{Tool: mcp.Tool{Name: "raw"}, Handle: func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
				return &mcp.ToolResult{Structured: r.Arguments()}, nil
			}},
			{Tool: mcp.Tool{Name: "secret"}, Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
				return mcp.ToolText("the secret"), nil
			}, Visible: func(c mcp.Caller) bool { return c.Principal == "root" }},
			{Tool: mcp.Tool{Name: "sample"}, Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
				return mcp.ToolText("sampled"), nil
			}, Requires: mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}},
			{Tool: mcp.Tool{Name: "refuse"}, Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
				return nil, &codec.Error{Code: 42, Message: "not today"}
			}},
		},
		Resources: []mcp.ServerResource{{
			Resource: mcp.Resource{URI: "test://text", Name: "text", MIMEType: "text/plain"},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.ReadResult, error) {
				return &mcp.ReadResult{Contents: []mcp.Contents{{URI: r.Name(), MIMEType: "text/plain", Text: "a text"}}}, nil
			},
		}, {
			Resource: mcp.Resource{URI: "test://gone", Name: "gone"},
			Handle: func(context.Context, *mcp.Request) (*mcp.ReadResult, error) {
				return nil, fmt.Errorf("looking: %w", mcp.ErrNotFound)
			},
		}},
		Templates: []mcp.ServerTemplate{{
			ResourceTemplate: mcp.ResourceTemplate{URITemplate: "test://item/{id}/data", Name: "items"},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.ReadResult, error) {
				return &mcp.ReadResult{Contents: []mcp.Contents{{URI: r.Name(), Blob: []byte(r.Variable("id"))}}}, nil
			},
		}},
		Prompts: []mcp.ServerPrompt{{
			Prompt: mcp.Prompt{Name: "poem", Arguments: []mcp.PromptArgument{{Name: "about", Required: true}}},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.PromptResult, error) {
				about := r.PromptArguments()["about"]
				if about == "nothing" {
					return nil, errors.New("cannot write about nothing")
				}
				return &mcp.PromptResult{Messages: []mcp.PromptMessage{{Role: "user", Content: mcp.Text("A poem about " + about)}}}, nil
			},
		}},
		Complete: func(_ context.Context, _ *mcp.Request, c mcp.Completion) (*mcp.CompletionResult, error) {
			if c.Value == "broken" {
				return nil, errors.New("the dictionary is lost")
			}
			if c.Value == "many" {
				return &mcp.CompletionResult{Values: make([]string, 101), Total: 500}, nil
			}
			return &mcp.CompletionResult{Values: []string{c.Value + "ing", c.Context["about"]}}, nil
		},
	}
}

func newServer(t testing.TB, change ...func(*mcp.Description)) *mcp.Server {
	t.Helper()
	d := everything()
	for _, f := range change {
		f(&d)
	}
	s, err := mcp.NewServer(d)
	require.NoError(t, err)
	return s
}
