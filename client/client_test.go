package client_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

const (
	eventually = 10 * time.Second
	tick       = time.Millisecond
)

func TestConnectLearnsTheServer(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		require.Equal(t, "fixture", c.ServerInfo().Name)
		require.Equal(t, "Add numbers.", c.Instructions())
		require.NotNil(t, c.Capabilities().Tools)
		require.NoError(t, c.Ping(t.Context()))
		require.NoError(t, c.Err())
	})
}

func TestTools(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		var names []string
		for tool, err := range c.Tools(t.Context()) {
			require.NoError(t, err)
			names = append(names, tool.Name)
		}
		require.Equal(t, []string{"add", "steps", "ask", "again", "hang", "fail"}, names)

		r, err := c.CallTool(t.Context(), "add", sum{1, 2}, client.CallOptions{})
		require.NoError(t, err)
		require.False(t, r.IsError)
		require.Equal(t, mcp.ResultComplete, r.ResultType)
		got, err := client.Structured[total](r)
		require.NoError(t, err)
		require.Equal(t, 3, got.Sum)

		r, err = c.CallTool(t.Context(), "fail", nil, client.CallOptions{})
		require.NoError(t, err)
		require.True(t, r.IsError)
		require.Equal(t, "no luck", r.Content[0].Text)
		_, err = client.Structured[total](r)
		require.ErrorIs(t, err, client.ErrToolFailed)
		require.ErrorContains(t, err, "no luck")
		_, err = client.Structured[total](&mcp.ToolResult{})
		require.ErrorIs(t, err, conn.ErrInvalidAnswer)

		_, err = c.CallTool(t.Context(), "add", []int{1}, client.CallOptions{})
		require.ErrorIs(t, err, codec.ErrNotObject)
		_, err = c.CallTool(t.Context(), "nothing", nil, client.CallOptions{})
		require.ErrorIs(t, err, &codec.Error{Code: codec.CodeInvalidParams})
	})
}

func TestListsFollowTheirPages(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		n := 0
		for p, err := range c.Prompts(t.Context()) {
			require.NoError(t, err)
			require.NotEmpty(t, p.Name)
			n++
		}
		require.Equal(t, 151, n)
		first, err := c.ListPrompts(t.Context(), nil, client.CallOptions{})
		require.NoError(t, err)
		require.Len(t, first.Prompts, mcp.PageSize)
		require.Equal(t, "private", first.CacheScope)
		require.Equal(t, mcp.ResultComplete, first.ResultType)
		for range c.Prompts(t.Context()) {
			break // the rest is not asked for
		}
	})
}

func TestResourcesPromptsCompletion(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		for r, err := range c.Resources(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, "note://one", r.URI)
		}
		for r, err := range c.Templates(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, "item://{id}", r.URITemplate)
		}
		read, err := c.ReadResource(t.Context(), "item://7", client.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, "7", read.Contents[0].Text)
		_, err = c.ReadResource(t.Context(), "nothing://x", client.CallOptions{})
		code := int64(codec.CodeInvalidParams)
		if c.Revision().IsLegacy() {
			code = mcp.CodeResourceNotFound
		}
		require.ErrorIs(t, err, &codec.Error{Code: code})

		prompt, err := c.GetPrompt(t.Context(), "greet", map[string]string{"who": "Ada"}, client.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, "Greet Ada", prompt.Messages[0].Content.Text)

		done, err := c.Complete(t.Context(), mcp.Completion{Prompt: "greet", Argument: "who", Value: "x"}, client.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"xa", "xb"}, done.Values)
	})
}

func TestProgressAndLogs(t *testing.T) {
	var mu sync.Mutex
	var logs []mcp.LogMessage
	o := client.Options{OnLog: func(m mcp.LogMessage) {
		mu.Lock()
		defer mu.Unlock()
		logs = append(logs, m)
	}}
	everywhere(t, o, func(t *testing.T, c *client.Client, _ *serve.Server) {
		mu.Lock()
		logs = nil
		mu.Unlock()
		if c.Revision().IsLegacy() {
			require.NoError(t, c.SetLevel(t.Context(), mcp.LevelInfo))
		} else {
			require.ErrorIs(t, c.SetLevel(t.Context(), mcp.LevelInfo), client.ErrNotSupported)
		}
		var reports []mcp.Progress
		r, err := c.CallTool(t.Context(), "steps", nil, client.CallOptions{
			LogLevel: mcp.LevelInfo,
			Progress: func(p mcp.Progress) { reports = append(reports, p) },
		})
		require.NoError(t, err)
		require.Equal(t, "done", r.Content[0].Text)
		require.NotEmpty(t, reports)
		require.Equal(t, mcp.Progress{Value: 3, Total: 3, Message: "step"}, reports[len(reports)-1])
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(logs) == 1 && logs[0].Level == mcp.LevelWarning && string(logs[0].Data) == `"begun"`
		}, eventually, tick)
	})
}

func asker() client.Options {
	return client.Options{
		Elicit: func(_ context.Context, p mcp.ElicitParams) (mcp.ElicitResult, error) {
			return mcp.ElicitResult{Action: "accept", Content: []byte(`{"name":"Ada"}`)}, nil
		},
		Sample: func(_ context.Context, p mcp.SamplingParams) (mcp.SamplingResult, error) {
			return mcp.SamplingResult{Role: "assistant", Content: mcp.Text("hello"), Model: "m"}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///x"}}, nil },
	}
}

func TestInputIsGiven(t *testing.T) {
	everywhere(t, asker(), func(t *testing.T, c *client.Client, _ *serve.Server) {
		r, err := c.CallTool(t.Context(), "ask", nil, client.CallOptions{})
		require.NoError(t, err)
		require.False(t, r.IsError, "%v", r.Content)
		text := r.Content[0].Text
		require.Contains(t, text, "kept ")
		require.Contains(t, text, `"name":"Ada"`)
		require.Contains(t, text, `"age":7`, "the form's default")
		require.Contains(t, text, `"model":"m"`)
		require.Contains(t, text, `"uri":"file:///x"`)
	})
}

func TestInputLoopExceeded(t *testing.T) {
	o := asker()
	o.Era = client.EraModern
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			d, err := mcp.NewServer(description())
			require.NoError(t, err)
			s, err := serve.New(d, serve.Options{})
			require.NoError(t, err)
			defer s.Close()
			for _, rounds := range []int{-1, 0, 3} {
				o.MaxRounds = rounds
				c, err := client.Connect(t.Context(), w.open(t, s), o)
				require.NoError(t, err)
				_, err = c.CallTool(t.Context(), "again", nil, client.CallOptions{})
				var loop *client.InputLoopExceeded
				require.ErrorAs(t, err, &loop)
				require.Equal(t, map[int]int{-1: 0, 0: client.DefaultMaxRounds, 3: 3}[rounds], loop.Rounds)
				require.NoError(t, c.Close())
			}
		})
	}
}

func TestInputThatCannotBeGiven(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		_, err := c.CallTool(t.Context(), "ask", nil, client.CallOptions{})
		code := int64(mcp.CodeMissingCapability)
		if c.Revision().IsLegacy() {
			code = codec.CodeInvalidParams
		}
		require.ErrorIs(t, err, &codec.Error{Code: code})
	})
}

func TestTimeoutAndCancel(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, s *serve.Server) {
		_, err := c.CallTool(t.Context(), "hang", nil, client.CallOptions{Timeout: 300 * time.Millisecond}) // time enough to send it
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		sent, known := conn.Sent(err)
		require.True(t, sent && known)

		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		_, err = c.CallTool(ctx, "hang", nil, client.CallOptions{})
		require.ErrorIs(t, err, conn.ErrCancelled)
		require.ErrorIs(t, err, context.Canceled)

		r, err := c.CallTool(t.Context(), "add", sum{2, 2}, client.CallOptions{})
		require.NoError(t, err, "the link lives on")
		require.Contains(t, string(r.Structured), "4")
	})
}

func TestCallsAfterClose(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		hung := make(chan error, 1)
		go func() {
			_, err := c.CallTool(context.Background(), "hang", nil, client.CallOptions{})
			hung <- err
		}()
		_, err := c.CallTool(t.Context(), "add", sum{}, client.CallOptions{})
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.ErrorIs(t, <-hung, conn.ErrClosed)
		_, err = c.CallTool(t.Context(), "add", sum{}, client.CallOptions{})
		require.ErrorIs(t, err, conn.ErrClosed)
		<-c.Done()
		require.ErrorIs(t, c.Err(), conn.ErrClosed)
	})
}

func TestParallelCalls(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				r, err := c.CallTool(t.Context(), "add", sum{i, 1}, client.CallOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				if got, _ := client.Structured[total](r); got.Sum != i+1 {
					t.Errorf("%d + 1 = %d", i, got.Sum)
				}
			})
		}
		wg.Wait()
	})
}

func TestRawCallKeepsTheCallersMeta(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		params := `{"name":"add","arguments":{"a":1,"b":1},"_meta":{"` + mcp.MetaClientInfo + `":{"name":"own","version":"1"}}}`
		text, err := c.Call(t.Context(), mcp.MethodCallTool, []byte(params), client.CallOptions{Meta: mcp.Meta{"traceparent": []byte(`"00-1-2-01"`)}})
		require.NoError(t, err)
		require.True(t, strings.Contains(string(text), `"sum":2`))
		_, err = c.Call(t.Context(), "tools/list", []byte(`[1]`), client.CallOptions{Meta: mcp.Meta{"x/y": []byte("1")}})
		require.ErrorIs(t, err, codec.ErrNotObject)
	})
}
