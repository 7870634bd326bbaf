package merge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/merge"
)

// URIs get their prefix wherever a client can take one from, and nothing else changes.
func TestPrefixURIs(t *testing.T) {
	for _, c := range []struct{ method, in, want string }{
		{"resources/list", `{"resources":[ {"uri":"a:/1","name":"uri"} , 7,{"name":"x", "uri" : "a:\/2"}],"uri":"no"}`, `{"resources":[ {"uri":"p+a:/1","name":"uri"} , 7,{"name":"x", "uri" : "p+a:\/2"}],"uri":"no"}`},
		{"resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"a:/{x}"}]}`, `{"resourceTemplates":[{"uriTemplate":"p+a:/{x}"}]}`},
		{"resources/read", `{"contents":[{"uri":"a:/1","text":"uri"},{"uri":7}]}`, `{"contents":[{"uri":"p+a:/1","text":"uri"},{"uri":7}]}`},
		{"tools/call", `{"content":[{"type":"text","text":"t","uri":"no"},{"type":"resource_link","uri":"a:/1"},{"resource":{"uri":"a:/2","blob":""},"type":"resource"}]}`,
			`{"content":[{"type":"text","text":"t","uri":"no"},{"type":"resource_link","uri":"p+a:/1"},{"resource":{"uri":"p+a:/2","blob":""},"type":"resource"}]}`},
		{"prompts/get", `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:/1"}}},{"content":[{"type":"resource_link","uri":"a:/2"}]}]}`,
			`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"p+a:/1"}}},{"content":[{"type":"resource_link","uri":"p+a:/2"}]}]}`},
		{"resources/list", `{}`, `{}`}, {"resources/list", `[]`, `[]`}, {"resources/list", `{"resources":[]}`, `{"resources":[]}`},
		{"tools/list", `{"tools":[{"uri":"a"}]}`, `{"tools":[{"uri":"a"}]}`},
	} {
		edits := merge.PrefixURIs(c.method, []byte(c.in), "p+")
		require.Equal(t, c.want, string(codec.AppendSplice(nil, []byte(c.in), edits...)))
	}
	require.Equal(t, `{"uri":"p+a"}`, string(codec.AppendSplice(nil, []byte(`{"uri":"a"}`), merge.PrefixURI([]byte(`{"uri":"a"}`), "p+")...)))
}

func TestStripURI(t *testing.T) {
	for in, want := range map[string]string{
		`"p+a:/1"`: `"a:/1"`, `"p+a:\/1"`: `"a:\/1"`, `"\u0070+a\n"`: `"a\n"`, `"a:/1"`: "", `7`: "", `"p"`: "", `"p+"`: `""`,
	} {
		e, ok := merge.StripURI([]byte(in), codec.Span{End: uint32(len(in))}, "p+")
		require.Equal(t, want != "", ok, in)
		if ok {
			require.Equal(t, want, string(codec.AppendSplice(nil, []byte(in), e)))
		}
	}
	for prefix, good := range map[string]bool{"files+": true, "a": true, "A.b-1": true, "": false, "1a": false, "a_": false, "a:": false, "a/": false} {
		require.Equal(t, good, merge.IsURIPrefix(prefix), prefix)
	}
}
