package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/plan"
)

func TestParsePrelude(t *testing.T) {
	steps, err := plan.ParsePrelude([]byte(`[
		{"request": "initialize", "params": {
			"capabilities": {}
		}},
		{"notify": "initialized", "params": {}},
		{"request": "warm/up", "params": [1, "two  "]},
		{"notify": "go"}
	]`))
	require.NoError(t, err)
	require.Equal(t, []plan.Step{
		{Request: "initialize", Params: json.RawMessage(`{"capabilities":{}}`)},
		{Notify: "initialized", Params: json.RawMessage(`{}`)},
		{Request: "warm/up", Params: json.RawMessage(`[1,"two  "]`)},
		{Notify: "go"},
	}, steps)
	for text, want := range map[string]string{
		``:                                    "want a JSON array of messages",
		`{}`:                                  "want a JSON array of messages",
		`[]`:                                  "no message",
		`[] []`:                               "behind its end",
		`[{}]`:                                "message 1 of 1: want one of request and notify",
		`[{"notify":"a"},{"request":""}]`:     "message 2 of 2: want one of request and notify",
		`[{"notify":"a","request":"b"}]`:      "want one of request and notify",
		`[{"notify":"a","params":5}]`:         "no object and no array",
		`[{"notify":"a","params":null}]`:      "no object and no array",
		`[{"method":"a"}]`:                    "method",
		`[{"notify":"a"},5]`:                  "message 2 of 2",
		`[{"notify":"a","params":{"b":1}} 5]`: "want a JSON array of messages",
	} {
		_, err := plan.ParsePrelude([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}
