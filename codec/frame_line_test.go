package codec_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// A line made in one go is what the three steps make.
func TestLineFramerAppendRequest(t *testing.T) {
	for _, id := range []codec.ID{codec.IntID(1), codec.IntID(-9007199254740993), codec.StringID("a\nb")} {
		for _, method := range []string{"m", "a\nb\"", ""} {
			for _, params := range []string{"", `{}`, "{\n\"a\":\r\n1}", "\r", `"` + strings.Repeat("x", 2000) + "\"\n"} {
				p := []byte(params)
				if params == "" {
					p = nil
				}
				before := []byte("before\n")
				var f codec.LineFramer
				want, err := f.Seal(codec.AppendRequest(f.Open(bytes.Clone(before)), id, method, p), len(before))
				require.NoError(t, err)
				got, err := f.AppendRequest(bytes.Clone(before), id, method, p)
				require.NoError(t, err)
				require.Equal(t, string(want), string(got))
			}
		}
	}
}
