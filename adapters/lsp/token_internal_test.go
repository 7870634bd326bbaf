package lsp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A token goes into any object that has none, beside what is there; all else is
// refused, and nothing comes out that is no JSON.
func FuzzWithToken(f *testing.F) {
	for _, params := range []string{
		`{}`, ` { } `, `{"a":1}`, "\n{\t\"a\" : {\"workDoneToken\":1}}", `{"workDoneToken":1}`, `{"\u0077orkDoneToken":1}`, `{"WorkDoneToken":1}`, `[1]`, `null`, `"{"`, `{`, ``,
	} {
		f.Add([]byte(params))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		var before map[string]json.RawMessage
		isObject := json.Unmarshal(params, &before) == nil && before != nil
		_, has := before[memberWorkDone]
		got, err := withToken(append([]byte{}, params...), memberWorkDone, "t")
		if !isObject || has {
			require.ErrorIs(t, err, ErrToken, "%s", params)
			return
		}
		if err != nil { // text that is not UTF-8, which encoding/json repairs
			return
		}
		var after map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(got, &after), "%s", got)
		require.Equal(t, `"t"`, string(after[memberWorkDone]))
		delete(after, memberWorkDone)
		require.Equal(t, before, after)
	})
}
