package mcp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct{ template, uri, want string }{
		{"a://{x}", "a://1", "x=1"},
		{"a://{x}", "a://", "-"},
		{"a://{x}", "a://1/2", "-"},
		{"a://{+x}", "a://1/2", "x=1/2"},
		{"a://{x}/b", "a://1/b", "x=1"},
		{"a://{x}/b", "a://1/c", "-"},
		{"a://{x}/b/{y}", "a://1/b/2", "x=1 y=2"},
		{"a://{+x}/b", "a://1/b/2/b", "x=1/b/2"},
		{"a://{+x}.{y}", "a://p/q.txt", "x=p/q y=txt"},
		{"a://{x}-{y}", "a://1-2-3", "x=1 y=2-3"},
		{"a://{x}x", "a://xx", "x=x"},
		{"a://{x}", "b://1", "-"},
		{"a://b", "a://b", ""},
		{"a://b", "a://bc", "-"},
		{"a://{x}", "a://%2F%41", "x=/A"},
		{"a://{x}", "a://%zz", "x=%zz"},
		{"a://{x}/", "a:///", "-"},
	} {
		p, err := parsePattern(c.template)
		require.NoError(t, err)
		got := ""
		if !p.match(c.uri, func(name, value string) {
			if got != "" {
				got += " "
			}
			got += fmt.Sprintf("%s=%s", name, value)
		}) {
			got = "-"
		}
		require.Equal(t, c.want, got, "%s on %s", c.template, c.uri)
		require.Equal(t, c.want != "-", p.match(c.uri, nil))
	}
}

// The walk over members finds what encoding/json finds, wherever the whitespace is.
func TestMembers(t *testing.T) {
	text := []byte(" { \"a\" : 1 , \"b\\u0063\":\"x\\\"}\" ,\"c\": {\"d\":[1,{\"e\":\"]\"}]} , \"f\":\t[ ] , \"long name that is more than eight bytes\":-1.5e3}  ")
	text = text[1:]
	m, ok := membersOf(text)
	require.True(t, ok)
	var got []string
	for name, value, ok := m.next(); ok; name, value, ok = m.next() {
		got = append(got, string(name)+"="+string(value.Of(text)))
	}
	require.Equal(t, []string{"a=1", `bc="x\"}"`, `c={"d":[1,{"e":"]"}]}`, "f=[ ]", "long name that is more than eight bytes=-1.5e3"}, got)
	for _, none := range []string{"", "[]", "1", `"{"`, "{"} {
		_, ok := membersOf([]byte(none))
		require.False(t, ok, none)
	}
	// What is not valid ends the walk and harms nobody.
	for _, broken := range []string{`{"`, `{"a`, `{"a"`, `{"a":`, `{"a":"`, `{"a":"\`, `{"a":{"b`, `{"a":[`, `{,,,`, `{1:2}`, `{"a":1,x`} {
		m, _ := membersOf([]byte(broken))
		for range 5 {
			m.next()
		}
	}
	var list []string
	require.True(t, elements([]byte(`[ "a" , {"b":[1]},3 ]`), func(v []byte) bool { list = append(list, string(v)); return true }))
	require.Equal(t, []string{`"a"`, `{"b":[1]}`, "3"}, list)
	require.False(t, elements([]byte(`{}`), nil))
}
