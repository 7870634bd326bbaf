package mcpgo

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/invariants"
)

func call(arguments any) mcp.CallToolParams {
	return mcp.CallToolParams{Name: `a "tool" <&>`, Arguments: arguments}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// paramsTable is what mcp-go's client hands over, and what it might.
func paramsTable() map[string]any {
	everything := call(raw(`{"a":1}`))
	everything.Meta = &mcp.Meta{ProgressToken: "p", AdditionalFields: map[string]any{"x": 1.5}}
	everything.Task = &mcp.TaskParams{}
	everything.RequestState = "state"
	withValue := everything
	withValue.Arguments = map[string]any{"message": "hi\n", "list": []int{1}}
	kept := call(map[string]any{"lost": 9007199254740993.0})
	kept.RawArguments = raw(`{"kept":9007199254740993}`)
	unencodable := call(nil)
	unencodable.Meta = &mcp.Meta{AdditionalFields: map[string]any{"x": math.NaN()}}
	return map[string]any{
		"no arguments": call(nil), "value": call(map[string]any{"message": "x"}), "typed": call(struct{ A, B string }{"a", "b"}),
		"typed nil": call((*int)(nil)), "raw": call(raw(`{"message":"x"}`)), "raw scalar": call(raw(`12`)), "raw null": call(raw(`null`)),
		"raw nil": call(raw("")[:0:0]), "nil raw": call(json.RawMessage(nil)), "a pointer": &everything, "a nil pointer": (*mcp.CallToolParams)(nil),
		"everything": everything, "everything, of a value": withValue, "kept": kept, "bad meta": unencodable,
		"spaces around": call(raw(" {} ")), "lines": call(raw("{\n\"a\" :\t[1,\r\n2]\n}")), "twice": call(raw(`{"a":1,"a":2}`)),
		"html": call(raw(`"<&>\u2028"`)), "a lone surrogate": call(raw(`"\ud800"`)), "not UTF-8": call(raw("\"\xff\"")),
		"deep": call(raw(strings.Repeat("[", 600) + strings.Repeat("]", 600))), "long": call(raw(`"` + strings.Repeat("x", 300<<10) + `"`)),
		"another member": call(raw(`1,"name":"other"`)), "two members": call(raw(`{},"x":{}`)), "the end": call(raw(`1}`)), "a frame": call(raw(`1},"id":1,"x":{"y":2`)),
		"broken": call(raw(`{`)), "no text": call(raw(`nope`)), "a function": call(func() {}), "a number that is none": call(math.Inf(1)),
		"members":    map[string]json.RawMessage{"name": raw(`"x"`), "_meta": raw(`{"progressToken":1}`), "arguments": raw(`{"a" : 1}`), "": raw(`0`)},
		"no members": map[string]json.RawMessage{}, "nil members": map[string]json.RawMessage(nil), "a nil member": map[string]json.RawMessage{"a": nil},
		"a broken member": map[string]json.RawMessage{"a": raw(`1`), "b": raw(`1,"c":2`)}, "nothing": nil, "a value": mcp.PaginatedParams{Cursor: "c"},
	}
}

// What is put together says the same as what encoding/json makes, and fails where
// that does, in the words of the codec.
func TestEncode(t *testing.T) {
	for name, params := range paramsTable() {
		t.Run(name, func(t *testing.T) {
			want, wantErr := json.Marshal(params)
			for range 2 { // the second has a buffer that was used before
				got, err := encode(params)
				if wantErr != nil {
					_, sameErr := codec.EncodeValue(params)
					require.EqualError(t, err, sameErr.Error())
					continue
				}
				require.NoError(t, err)
				if string(want) == "null" {
					require.Nil(t, got.B)
				} else {
					require.JSONEq(t, string(want), string(got.B))
				}
				got.put()
			}
		})
	}
}

// Members stand in the order of their names, so that the same request is the same
// text.
func TestEncodeMembersInOrder(t *testing.T) {
	e, err := encode(map[string]json.RawMessage{"b": raw("2"), "c": raw("3"), "a": raw("1"), "d": raw("4")})
	require.NoError(t, err)
	require.Equal(t, `{"a":1,"b":2,"c":3,"d":4}`, string(e.B))
	e.put()
}

func TestEncodeAllocates(t *testing.T) {
	if invariants.Enabled || invariants.Race {
		t.Skip("checks allocate")
	}
	var params any = call(raw(`{"message":"` + strings.Repeat("x", 4096) + `"}`))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		e, err := encode(params)
		if err != nil {
			t.Fatal(err)
		}
		e.put()
	}), 0.0)
}
