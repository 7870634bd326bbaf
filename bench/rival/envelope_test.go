package rival_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/rival"
)

func TestDecodersAgree(t *testing.T) {
	decoders := map[string]rival.Decoder{"std": rival.DecodeStd, "reusing": rival.ReusingStd()}
	if rival.HaveSonic {
		decoders["sonic"], decoders["sonic default"] = rival.SonicStd(), rival.SonicDefault()
	}
	for name, decode := range decoders {
		var m rival.Message
		require.NoError(t, decode([]byte(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1,"_meta":{"progressToken":"t"}}}`), &m), name)
		require.EqualValues(t, 7, m.ID)
		require.Equal(t, "m", m.Method)
		require.Equal(t, `"t"`, string(m.Token))
		require.Equal(t, `{"a":1,"_meta":{"progressToken":"t"}}`, string(m.Params))
		require.NoError(t, decode([]byte(`{"jsonrpc":"2.0","id":8,"result":[1]}`), &m))
		require.Equal(t, "[1]", string(m.Result))
		require.Empty(t, m.Token)
		require.Empty(t, m.Method)
		require.Error(t, decode([]byte(`{"jsonrpc":"2.0","id":8,`), &m))
		require.Error(t, decode([]byte(`{"id":8}`), &m))
	}
}

func TestEncodersAgree(t *testing.T) {
	const want = `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}}`
	for _, encode := range []rival.Encoder{rival.EncodeStd, rival.EncodeSonic} {
		got, err := encode(7, "m", []byte(`{"a":1}`))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	got, err := rival.RewriteStd([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`), 7)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}
