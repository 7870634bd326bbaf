package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplitBatch(t *testing.T) {
	for _, c := range []struct {
		name, frame string
		elements    []string // those with an error beside them are marked "!"
		problem     string   // of the whole batch
	}{
		{name: "two", frame: ` [ {"a":[1,2]} , {"b":"]"} ] `, elements: []string{`{"a":[1,2]}`, `{"b":"]"}`}},
		{name: "one", frame: `[{}]`, elements: []string{`{}`}},
		{name: "empty", frame: `[]`, problem: "empty batch"},
		{name: "blank", frame: "[\n]", problem: "empty batch"},
		{name: "number", frame: `[1]`, elements: []string{`!1`}},
		{name: "batch inside", frame: `[[]]`, elements: []string{`![]`}},
		{name: "mixed", frame: `[1,{"x":1},"s",null]`, elements: []string{`!1`, `{"x":1}`, `!"s"`, `!null`}},
		{name: "broken late", frame: `[{"x":1},{"y":01}]`, problem: "malformed number"},
		{name: "trailing comma", frame: `[{},]`, problem: "no JSON value"},
		{name: "trailing bytes", frame: `[{}]]`, problem: "after"},
		{name: "cut", frame: `[{}`, problem: "ends"},
		{name: "no array", frame: `{}`, problem: "not an array"},
		{name: "nothing", frame: ``, problem: "empty frame"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for element, err := range SplitBatch([]byte(c.frame), ScanOptions{}) {
				if element == nil {
					require.ErrorContains(t, err, c.problem)
					require.NotEmpty(t, c.problem)
					continue
				}
				mark := ""
				if err != nil {
					mark = "!"
				}
				got = append(got, mark+string(element))
				require.Equal(t, len(element), cap(element))
			}
			require.Equal(t, c.elements, got)
		})
	}
}

func TestSplitBatchStopsWhenAsked(t *testing.T) {
	for element := range SplitBatch([]byte(`[{},{}]`), ScanOptions{}) {
		require.Equal(t, `{}`, string(element))
		break
	}
}

func TestPeekID(t *testing.T) {
	for _, c := range []struct {
		name, prefix string
		want         ID
	}{
		{"first", `{"id":12,"jsonrpc":"2.0","result":"aaaaaaa`, IntID(12)},
		{"cut in its digits", `{"id":12`, ID{}},
		{"string", `{"jsonrpc":"2.0","id":"x","result":{"a":[`, StringID("x")},
		{"cut in its string", `{"jsonrpc":"2.0","id":"x`, ID{}},
		{"behind the cut", `{"jsonrpc":"2.0","result":{"id":7,`, ID{}},
		{"null", `{"id":null,"error":`, NullID()},
		{"whole frame", `{"jsonrpc":"2.0","id":1,"result":1}`, IntID(1)},
		{"garbage", `hello`, ID{}},
		{"batch", `[{"id":1}`, ID{}},
		{"nothing", ``, ID{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, ok := PeekID([]byte(c.prefix), MCP)
			require.Equal(t, c.want, id)
			require.Equal(t, !c.want.IsAbsent(), ok)
		})
	}
}
