package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnquote(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{``, ""},
		{`plain`, "plain"},
		{`a\"b\\c\/d\b\f\n\r\t`, "a\"b\\c/d\b\f\n\r\t"},
		{`\u0041\u00e9\u4e2d`, "Aé中"},
		{`\ud83d\ude00!`, "😀!"},
		{`\ud800`, "\xed\xa0\x80"},
		{`\ud800\u0041`, "\xed\xa0\x80A"},
		{`\ude00\ud83d`, "\xed\xb8\x80\xed\xa0\xbd"},
	} {
		require.Equal(t, c.want, string(unquote(nil, []byte(c.raw), 100)), c.raw)
		for limit := range len(c.want) {
			require.Equal(t, "x"+c.want[:limit], string(unquote([]byte("x"), []byte(c.raw), limit)), c.raw)
		}
		require.Equal(t, c.want, string(unquote(nil, appendQuoted(nil, c.want)[1:], 100)[:len(c.want)]), c.raw)
	}
}
