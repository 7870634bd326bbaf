package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

type total struct {
	Sum int `json:"sum"`
}

// description is a server with one of everything that a client can ask for.
func description() mcp.Description {
	d := mcp.Description{
		Info:         mcp.Implementation{Name: "fixture", Version: "2"},
		Instructions: "Add numbers.",
		Logging:      true,
		Tools: []mcp.ServerTool{
			mcp.NewTool(mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.Request, in sum) (total, error) { return total{in.A + in.B}, nil }),
			mcp.NewTool(mcp.Tool{Name: "steps"}, steps),
			mcp.NewTool(mcp.Tool{Name: "ask"}, ask),
			mcp.NewTool(mcp.Tool{Name: "again"}, again),
			mcp.NewTool(mcp.Tool{Name: "hang"}, hang),
			mcp.NewTool(mcp.Tool{Name: "fail"}, func(context.Context, *mcp.Request, struct{}) (string, error) { return "", errors.New("no luck") }),
		},
		Resources: []mcp.ServerResource{{
			Resource: mcp.Resource{URI: "note://one", Name: "one"},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.ReadResult, error) {
				return &mcp.ReadResult{Contents: []mcp.Contents{{URI: r.Name(), Text: "first"}}}, nil
			},
		}},
		Templates: []mcp.ServerTemplate{{
			ResourceTemplate: mcp.ResourceTemplate{URITemplate: "item://{id}", Name: "item"},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.ReadResult, error) {
				return &mcp.ReadResult{Contents: []mcp.Contents{{URI: r.Name(), Text: r.Variable("id")}}}, nil
			},
		}},
		Prompts: []mcp.ServerPrompt{{
			Prompt: mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "who"}}},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.PromptResult, error) {
				return &mcp.PromptResult{Messages: []mcp.PromptMessage{{Role: "user", Content: mcp.Text("Greet " + r.PromptArguments()["who"])}}}, nil
			},
		}},
		Complete: func(_ context.Context, _ *mcp.Request, c mcp.Completion) (*mcp.CompletionResult, error) {
			return &mcp.CompletionResult{Values: []string{c.Value + "a", c.Value + "b"}}, nil
		},
	}
	for i := range 150 {
		d.Prompts = append(d.Prompts, mcp.ServerPrompt{
			Prompt: mcp.Prompt{Name: fmt.Sprintf("p%03d", i)},
			Handle: func(context.Context, *mcp.Request) (*mcp.PromptResult, error) { return &mcp.PromptResult{}, nil },
		})
	}
	return d
}

func steps(ctx context.Context, r *mcp.Request, _ struct{}) (string, error) {
	if err := r.Log(ctx, mcp.LevelWarning, "steps", "begun"); err != nil {
		return "", err
	}
	for i := 1; i <= 3; i++ {
		if err := r.Report(ctx, mcp.Progress{Value: float64(i), Total: 3, Message: "step"}); err != nil {
			return "", err
		}
	}
	return "done", nil
}

func ask(_ context.Context, r *mcp.Request, _ struct{}) (string, error) {
	name, ok := r.Input("name")
	if !ok {
		return "", &mcp.InputRequired{
			Requests: map[string]mcp.InputRequest{
				"name": mcp.Elicit(mcp.ElicitParams{
					Message:         "Who are you?",
					RequestedSchema: []byte(`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","default":7}}}`),
				}),
				"model": mcp.Sample(mcp.SamplingParams{MaxTokens: 5, Messages: []mcp.SamplingMessage{{Role: "user", Content: mcp.Text("hi")}}}),
				"roots": mcp.ListRoots(),
			},
			State: "kept",
		}
	}
	model, _ := r.Input("model")
	roots, _ := r.Input("roots")
	return fmt.Sprintf("%s %s %s %s", r.State(), name, model, roots), nil
}

func again(_ context.Context, _ *mcp.Request, _ struct{}) (string, error) {
	return "", &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"roots": mcp.ListRoots()}, State: "more"}
}

func hang(ctx context.Context, _ *mcp.Request, _ struct{}) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// way is one way to a server of the fixture.
type way struct {
	name string
	open func(t *testing.T, s *serve.Server) client.Transport
}

var ways = []way{
	{"in process", func(t *testing.T, s *serve.Server) client.Transport {
		return client.Stream(s.InProcess(t.Context()))
	}},
	{"unix socket", func(t *testing.T, s *serve.Server) client.Transport {
		l := listen(t)
		go func() { _ = s.Listen(t.Context(), l) }()
		return client.Dial("unix", l.Addr().String())
	}},
	{"stdio", func(t *testing.T, s *serve.Server) client.Transport {
		l := listen(t)
		go func() { _ = s.Listen(t.Context(), l) }()
		return child(t, l)
	}},
	{"HTTP", func(t *testing.T, s *serve.Server) client.Transport {
		h, err := s.HTTP(serve.HTTPOptions{})
		require.NoError(t, err)
		web := httptest.NewServer(h)
		t.Cleanup(web.Close)
		return client.HTTP{Endpoint: web.URL}
	}},
}

// everywhere runs f over every way and in both eras, with a client of its own.
func everywhere(t *testing.T, o client.Options, f func(t *testing.T, c *client.Client, s *serve.Server)) {
	for _, era := range []struct {
		name string
		era  client.Era
	}{{"modern", client.EraModern}, {"older", client.EraLegacy}} {
		for _, w := range ways {
			t.Run(era.name+" "+w.name, func(t *testing.T) {
				d, err := mcp.NewServer(description())
				require.NoError(t, err)
				s, err := serve.New(d, serve.Options{})
				require.NoError(t, err)
				o := o
				o.Era = era.era
				c, err := client.Connect(t.Context(), w.open(t, s), o)
				require.NoError(t, err)
				t.Cleanup(func() {
					require.NoError(t, c.Close())
					s.Close()
					noGoroutines(t)
				})
				f(t, c, s)
			})
		}
	}
}

// noGoroutines fails when one of the client's goroutines is left: Close waits for
// those of HTTP, and Done says when those of a connection have gone.
func noGoroutines(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		buf := make([]byte, 1<<20)
		return !strings.Contains(string(buf[:runtime.Stack(buf, true)]), "correlator/client.(*")
	}, eventually, tick, "a goroutine is left")
}
