package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/lsp"
)

// tokens are those that came with a call.
type tokens struct {
	WorkDone string `json:"workDoneToken"`
	Partial  string `json:"partialResultToken"`
	Query    string `json:"query"`
}

func tokensOf(t testing.TB, m message) (k tokens) {
	t.Helper()
	require.NoError(t, json.Unmarshal(m.Params, &k))
	return k
}

func (f *fake) progress(token, value string) {
	f.send(`"method":"$/progress","params":{"token":%q,"value":%s}`, token, value)
}

// Reports and parts reach the call that asked for them, all of them, in order, before
// its result; what comes later is counted, and other tokens are the handler's.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const parts = 200
		var others []string
		o := lsp.Options{OnNotification: map[string]lsp.NotificationHandler{"$/progress": func(_ context.Context, p json.RawMessage) error {
			others = append(others, string(p))
			return nil
		}}}
		c := session(t, o, func(f *fake, m message) {
			k := tokensOf(t, m)
			f.send(`"method":"$/progress","params":{"token":"of the server","value":%q}`, k.Query)
			f.send(`"method":"$/progress","params":{"token":7,"value":1}`)
			f.send(`"method":"$/progress","params":5`)
			for i := range parts {
				if k.WorkDone != "" {
					f.progress(k.WorkDone, fmt.Sprintf(`{"kind":"report","percentage":%d}`, i/2))
				}
				if k.Partial != "" {
					f.progress(k.Partial, fmt.Sprintf("[%d]", i))
				}
			}
			f.answer(m, "[]")
			for _, token := range []string{k.WorkDone, k.Partial} {
				if token != "" {
					f.progress(token, "0")
				}
			}
		})
		for _, params := range []any{nil, json.RawMessage(" {}"), json.RawMessage(`{"query":"x"}`), map[string]string{"query": "y"}} {
			for _, ask := range []struct{ work, partial bool }{{true, true}, {true, false}, {false, true}} {
				var work, got []string
				options := lsp.CallOptions{}
				if ask.work {
					options.WorkDone = func(v json.RawMessage) { work = append(work, string(v)) }
				}
				if ask.partial {
					options.Partial = func(v json.RawMessage) {
						runtime.Gosched()
						got = append(got, string(v))
					}
				}
				result, err := c.Call(t.Context(), "workspace/symbol", params, options)
				require.NoError(t, err)
				require.Equal(t, "[]", string(result))
				require.Len(t, work, map[bool]int{true: parts}[ask.work])
				require.Len(t, got, map[bool]int{true: parts}[ask.partial])
				for i := range got {
					require.Equal(t, fmt.Sprintf("[%d]", i), got[i])
				}
				for i := range work {
					require.Equal(t, fmt.Sprintf(`{"kind":"report","percentage":%d}`, i/2), work[i])
				}
			}
		}
		require.NoError(t, c.Shutdown(t.Context()))
		synctest.Wait()
		require.EqualValues(t, 4*(2+1+1), c.Stats().ProgressLate)
		require.Len(t, others, 4*3*3)
		require.Equal(t, []string{`{"token":"of the server","value":""}`, `{"token":7,"value":1}`, `5`}, others[:3])
	})
}

// Two calls never have one token.
func TestTokensDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[string]bool{}
		c := session(t, lsp.Options{}, func(f *fake, m message) {
			k := tokensOf(t, m)
			require.False(t, seen[k.WorkDone] || seen[k.Partial] || k.WorkDone == k.Partial)
			seen[k.WorkDone], seen[k.Partial] = true, true
			f.answer(m, "null")
		})
		drop := func(json.RawMessage) {}
		for range 10 {
			_, err := c.Call(t.Context(), "x", nil, lsp.CallOptions{WorkDone: drop, Partial: drop})
			require.NoError(t, err)
		}
		require.Len(t, seen, 20)
		for _, params := range []string{`{"workDoneToken":1}`, `{"partialResultToken":null}`, `[1]`, `"x"`, `nonsense`, `null`, ``} {
			_, err := c.Call(t.Context(), "x", json.RawMessage(params), lsp.CallOptions{WorkDone: drop, Partial: drop})
			require.ErrorIs(t, err, lsp.ErrToken, params)
		}
		require.Len(t, seen, 20, "nothing was sent")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// A handler that is too slow for the bound ends its call, since a result without some
// of its parts is none. One value alone always passes.
func TestSlowProgress(t *testing.T) {
	for _, try := range []struct{ limit, values int }{{10, 3}, {10, 1}, {-1, 50}} {
		for _, grace := range []time.Duration{0, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				begun, sent := make(chan struct{}), make(chan struct{})
				var cancels int
				c := session(t, lsp.Options{ProgressBytes: try.limit}, func(f *fake, m message) {
					if m.Method == "$/cancelRequest" {
						cancels++
						return
					}
					k := tokensOf(t, m)
					f.progress(k.Partial, `"first"`)
					<-begun
					for range try.values {
						f.progress(k.Partial, `"a value of more than ten bytes"`)
					}
					close(sent)
					if try.limit < 0 || try.values == 1 {
						f.answer(m, "null")
					}
				})
				got := 0
				_, err := c.Call(t.Context(), "x", nil, lsp.CallOptions{CancelGrace: grace, Partial: func(json.RawMessage) {
					got++
					if got == 1 {
						close(begun)
						<-sent
						synctest.Wait()
					}
				}})
				if try.limit < 0 || try.values == 1 {
					require.NoError(t, err)
					require.Equal(t, 1+try.values, got)
				} else {
					require.ErrorIs(t, err, lsp.ErrSlowProgress)
					require.Less(t, got, 1+try.values)
					synctest.Wait()
					require.Equal(t, 1, cancels)
				}
				require.NoError(t, c.Shutdown(t.Context()))
			})
		}
	}
}

// A panic of a handler is the caller's, and the call is cancelled at the server.
func TestProgressPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancels := 0
		c := session(t, lsp.Options{}, func(f *fake, m message) {
			if m.Method == "$/cancelRequest" {
				cancels++
				return
			}
			f.progress(tokensOf(t, m).WorkDone, "1")
		})
		require.PanicsWithValue(t, "oh", func() {
			_, _ = c.Call(t.Context(), "x", nil, lsp.CallOptions{WorkDone: func(json.RawMessage) { panic("oh") }})
		})
		synctest.Wait()
		require.Equal(t, 1, cancels)
		require.Zero(t, c.Conn().Stats().Calls.Pending)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}
