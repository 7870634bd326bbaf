package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

func TestAppendParamsWithMeta(t *testing.T) {
	const members = `"a":1,"b":{"c":2}`
	for _, c := range []struct{ name, params, want string }{
		{"no params", "", `{"_meta":{"a":1,"b":{"c":2}}}`},
		{"null", " null ", `{"_meta":{"a":1,"b":{"c":2}}}`},
		{"empty object", `{ }`, `{"_meta":{"a":1,"b":{"c":2}} }`},
		{"other members", `{"x": 1.0, "y":"\u00e9"}`, `{"_meta":{"a":1,"b":{"c":2}},"x": 1.0, "y":"\u00e9"}`},
		{"meta null", `{"x":1,"_meta":null}`, `{"x":1,"_meta":{"a":1,"b":{"c":2}}}`},
		{"meta empty", `{"_meta":{},"x":1}`, `{"_meta":{"a":1,"b":{"c":2}},"x":1}`},
		{"meta with members", `{"_meta":{"progressToken":7},"x":1}`, `{"_meta":{"a":1,"b":{"c":2},"progressToken":7},"x":1}`},
		{"escaped key", `{"\u005fmeta":{"z":0}}`, `{"\u005fmeta":{"a":1,"b":{"c":2},"z":0}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := codec.AppendParamsWithMeta([]byte("> "), []byte(c.params), []byte(members))
			require.NoError(t, err)
			require.Equal(t, "> "+c.want, string(got))
		})
	}
	for _, c := range []struct {
		name, params string
		is           error
	}{
		{"array", `[1]`, codec.ErrNotObject},
		{"meta is text", `{"_meta":"x"}`, codec.ErrNotObject},
		{"meta twice", `{"_meta":{},"_meta":{}}`, codec.ErrDuplicateMember},
		{"cut", `{"a":`, codec.ErrTruncated},
		{"trailing", `{} x`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := codec.AppendParamsWithMeta([]byte("> "), []byte(c.params), []byte(members))
			require.Error(t, err)
			require.Equal(t, "> ", string(got), "dst as it was")
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}
