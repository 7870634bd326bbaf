package route_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/route"
)

// The trace context is replaced or put in, and no other byte changes.
func TestMeta(t *testing.T) {
	for _, c := range []struct{ before, had, after string }{
		{`{"id":1,"params":{"_meta":{"traceparent":"A"}}}`, "A", `{"id":1,"params":{"_meta":{"traceparent":"T"}}}`},
		{`{"id":1,"params" : { "x":[1.0 ], "_meta" : {"a":1, "trace\u0070arent" :  "A" } } }`, "A", `{"id":1,"params" : { "x":[1.0 ], "_meta" : {"a":1, "trace\u0070arent" :  "T" } } }`},
		{`{"id":1,"params":{"_meta":{ "a":1}}}`, "", `{"id":1,"params":{"_meta":{"traceparent":"T", "a":1}}}`},
		{`{"id":1,"params":{"_meta":{}}}`, "", `{"id":1,"params":{"_meta":{"traceparent":"T"}}}`},
		{`{"id":1,"params":{"traceparent":"X"}}`, "", `{"id":1,"params":{"_meta":{"traceparent":"T"},"traceparent":"X"}}`},
		{`{"id":1,"params":{}}`, "", `{"id":1,"params":{"_meta":{"traceparent":"T"}}}`},
		{`{"id":1,"params":null}`, "", `{"id":1,"params":{"_meta":{"traceparent":"T"}}}`},
		{`{"id":1 } `, "", `{"id":1 ,"params":{"_meta":{"traceparent":"T"}}} `},
		{`{"id":1,"params":{"_meta":{"traceparent":7}}}`, "", `{"id":1,"params":{"_meta":{"traceparent":"T"}}}`},
		{`{"id":1,"params":[1]}`, "", ""},
		{`{"id":1,"params":{"_meta":"x"}}`, "", ""},
	} {
		text := `{"jsonrpc":"2.0","method":"m",` + c.before[1:]
		m, err := codec.Parse([]byte(text), codec.ScanOptions{})
		require.NoError(t, err, text)
		had, err := route.Meta(&m, "traceparent")
		require.NoError(t, err)
		require.Equal(t, c.had, had, text)
		got, ok := route.AppendWithMeta([]byte("x"), &m, "traceparent", "T")
		require.Equal(t, c.after != "", ok, text)
		if !ok {
			require.Equal(t, "x", string(got))
			continue
		}
		require.Equal(t, `x{"jsonrpc":"2.0","method":"m",`+c.after[1:], string(got))
		require.True(t, json.Valid(got[1:]))
	}
}

func TestMetaTwice(t *testing.T) {
	m, err := codec.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"traceparent":"A","trace\u0070arent":"B"}}}`), codec.ScanOptions{})
	require.NoError(t, err)
	_, err = route.Meta(&m, "traceparent")
	require.ErrorIs(t, err, route.ErrTwice)
	_, ok := route.AppendWithMeta(nil, &m, "traceparent", "T")
	require.False(t, ok)
}
