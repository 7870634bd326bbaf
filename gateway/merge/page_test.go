package merge_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/merge"
)

func TestStrip(t *testing.T) {
	for raw, want := range map[string]string{
		`"files__read"`:        `"read"`,
		`"files__a__b é"`:      `"a__b é"`,
		`"fil\u0065s__r\"e"`:   `"r\"e"`,
		`"files__\u0072\/ead"`: `"r/ead"`,
	} {
		frame := []byte(`{"name":` + raw + `}`)
		n, edit, ok := merge.Strip(frame, codec.Span{Off: 8, End: uint32(8 + len(raw))})
		require.True(t, ok, raw)
		require.Equal(t, "files", n.Upstream)
		require.Equal(t, `{"name":`+want+`}`, string(codec.AppendSplice(nil, frame, edit)))
	}
	for _, raw := range []string{`"read"`, `7`, `null`, `"__x"`, `"files__"`} {
		_, _, ok := merge.Strip([]byte(raw), codec.Span{End: uint32(len(raw))})
		require.False(t, ok, raw)
	}
}

func TestCursors(t *testing.T) {
	places := []merge.Place{{"a", ""}, {"b", "x\"y"}}
	got, err := merge.Places(merge.Cursor(places))
	require.NoError(t, err)
	require.Equal(t, places, got)
	for _, bad := range []string{"", "p2", "W10", "e30"} {
		_, err := merge.Places(bad)
		require.ErrorIs(t, err, merge.ErrCursor, bad)
	}
}

// Pages of other forms harm nobody: what is no list is named as missing.
func TestPageOfOddParts(t *testing.T) {
	l, ok := merge.ListOf("tools/list")
	require.True(t, ok)
	page := merge.AppendPage(nil, l, []merge.Part{
		{Upstream: "a", Result: []byte(`{"tools":[{"name":7},{},{"name":"x","name":"y"},{"name":"ok"}],"nextCursor":7}`)},
		{Upstream: "b", Result: []byte(`[]`)}, {Upstream: "c", Broken: true}, {Upstream: "d", Result: []byte(`{"tools":{}}`)},
	}, true)
	require.Equal(t, `{"tools":[{"name":7},{},{"name":"x","name":"y"},{"name":"a__ok"}],"resultType":"complete","ttlMs":0,"cacheScope":"private",`+
		`"_meta":{"io.github.correlator-go/unavailable":["b","c"]}}`, string(page))
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		want          bool
	}{
		{"x:/{id}/d", "x:/7/d", true}, {"x:/{id}/d", "x:/7/e", false}, {"x:/{a}/{b}", "x:/1/2", true}, {"x:/y", "x:/y", true},
		{"x:/y", "x:/yz", false}, {"x:/{a}", "y:/1", false}, {"xx{a}xx", "xxx", false},
	} {
		require.Equal(t, c.want, merge.Match(c.template, c.uri), c)
	}
}

func TestCapabilities(t *testing.T) {
	require.Equal(t, `{"logging":{},"resources":{"listChanged":false,"subscribe":true},"tools":{"listChanged":true}}`, string(merge.Capabilities(nil,
		[]byte(`{"tools":{"listChanged":false},"resources":{"subscribe":true}}`), []byte(`7`),
		[]byte(`{"tools":{"listChanged":true},"logging":{},"resources":{"listChanged":false}}`))))
	require.Equal(t, `{}`, string(merge.Capabilities(nil)))
}

func ExampleAppendPage() {
	list, _ := merge.ListOf("tools/list")
	page := merge.AppendPage(nil, list, []merge.Part{
		{Upstream: "files", Result: []byte(`{"tools":[{"name":"read"}]}`)},
		{Upstream: "web", Result: []byte(`{"tools":[{"name":"get"}]}`)},
		{Upstream: "mail", Broken: true},
	}, false)
	fmt.Printf("%s\n", page)
	// Output: {"tools":[{"name":"files__read"},{"name":"web__get"}],"_meta":{"io.github.correlator-go/unavailable":["mail"]}}
}
