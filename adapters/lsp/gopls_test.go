package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/conn"
)

// long is time enough for gopls on a machine that has other things to do.
const long = 5 * time.Minute

// hoverAt is the hover on function i, which must be that of function i.
func hoverAt(ctx context.Context, c *lsp.Client, w workspace, i int, o lsp.CallOptions) error {
	h, err := lsp.Call[*hover](ctx, c, "textDocument/hover", w.at(i), o)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("func F%d(n int) int", i); h == nil || !strings.Contains(h.Contents.Value, want) {
		return fmt.Errorf("hover %d: got %+v, want %q", i, h, want)
	}
	return nil
}

// A session with gopls: 200 hovers at once, each with its own answer, while gopls
// reports progress, publishes diagnostics and asks for what it needs.
func TestGopls(t *testing.T) {
	w := newWorkspace(t)
	ctx := t.Context()
	diagnosed, loaded := make(chan string, 1000), make(chan struct{}, 1000)
	type value struct {
		Value struct{ Kind string } `json:"value"`
	}
	type diagnostics struct{ URI string }
	c := opened(t, w, lsp.Options{
		Settings: map[string]any{"gopls": map[string]bool{"staticcheck": true}},
		OnNotification: map[string]lsp.NotificationHandler{
			"textDocument/publishDiagnostics": lsp.HandleNotification(func(_ context.Context, p diagnostics) error {
				diagnosed <- p.URI
				return nil
			}),
			"$/progress": lsp.HandleNotification(func(_ context.Context, p value) error {
				if p.Value.Kind == "end" {
					loaded <- struct{}{}
				}
				return nil
			}),
		},
		OnError: func(method string, err error) { t.Errorf("%s: %v", method, err) },
	})
	var all sync.WaitGroup
	for i := range functions {
		all.Go(func() {
			if err := hoverAt(ctx, c, w, i, lsp.CallOptions{Timeout: long}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	<-loaded
	require.Equal(t, uri(w.file), <-diagnosed)

	// What gopls asked was answered: its settings, its registrations, its tokens.
	stats := c.Conn().Stats()
	require.Positive(t, stats.Requests)
	require.Zero(t, stats.Unanswered)

	// The work of a command, reported to the call that had it done.
	var kinds []string
	_, err := c.Call(ctx, "workspace/executeCommand", map[string]any{"command": "gopls.tidy", "arguments": []any{map[string]any{"URIs": []string{uri(w.file)}}}}, lsp.CallOptions{
		Timeout: long,
		WorkDone: func(v json.RawMessage) {
			var p struct{ Kind string }
			if json.Unmarshal(v, &p) == nil {
				kinds = append(kinds, p.Kind)
			}
		},
	})
	require.NoError(t, err)
	require.Equal(t, "begin", kinds[0])
	require.Equal(t, "end", kinds[len(kinds)-1])

	_, err = c.Call(ctx, "textDocument/nonsense", map[string]int{}, lsp.CallOptions{})
	require.ErrorIs(t, err, lsp.ErrMethodNotFound)
	require.NoError(t, c.Shutdown(ctx))
}

// Hovers that are given up while gopls loads the workspace: each is answered all the
// same, as cancelled, and those that were not given up are right.
func TestGoplsCancels(t *testing.T) {
	const n = 60
	w := newWorkspace(t)
	late := make(chan string, n)
	c := opened(t, w, lsp.Options{Conn: conn.Options{OnStray: func(s conn.Stray) {
		if s.Reason == conn.StrayUnmatched {
			late <- string(s.Frame)
		}
	}}})
	ctx, giveUp := context.WithCancelCause(t.Context())
	var all sync.WaitGroup
	ends := make([]error, n)
	for i := range n {
		all.Go(func() {
			switch i % 3 {
			case 0: // given up at once
				ends[i] = hoverAt(ctx, c, w, i, lsp.CallOptions{Timeout: long})
			case 1: // waits for what gopls says
				ends[i] = hoverAt(ctx, c, w, i, lsp.CallOptions{Timeout: long, CancelGrace: long})
			case 2:
				ends[i] = hoverAt(t.Context(), c, w, i, lsp.CallOptions{Timeout: long})
			}
		})
	}
	for c.Conn().Stats().Calls.Registered < 1+n { // gopls takes longer than this to load
		runtime.Gosched()
	}
	require.NoError(t, c.Conn().Flush(t.Context()))
	giveUp(errBored)
	all.Wait()
	lates, stopped := 0, 0
	for i, err := range ends {
		switch {
		case i%3 == 0 && errors.Is(err, conn.ErrCancelled):
			lates++
		case i%3 == 1 && errors.Is(err, lsp.ErrRequestCancelled):
			require.ErrorIs(t, err, errBored)
			stopped++
		default: // perhaps gopls was faster than the cancel
			require.NoError(t, err)
		}
	}
	require.Positive(t, stopped)
	cancelled := 0
	for range lates { // the rule: who cancels gets an answer
		if strings.Contains(<-late, "-32800") {
			cancelled++
		}
	}
	require.Positive(t, cancelled)
	require.NoError(t, hoverAt(t.Context(), c, w, 7, lsp.CallOptions{Timeout: long}))
	require.NoError(t, c.Shutdown(t.Context()))
}
