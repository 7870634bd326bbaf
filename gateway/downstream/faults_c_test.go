package downstream_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
)

// What the gateway does not rewrite arrives as it was written, over HTTP as well: odd
// spacing, escapes, numbers that no float holds, look-alikes of what it rewrites.
func TestC24ByteForByteOverHTTP(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{}, downstream.ServerOptions{})
	in := []string{"Mcp-Session-Id", w.session()}
	way := w.server.Way(0)
	for i, c := range []string{
		`{"a":1}`, ` { "a" :	1.0e400 , "b": -0.0 }`, `{"n":123456789012345678901234567890,"f":0.1000000000000000055}`,
		`{"é":"\u00e9\ud83d\ude00\/","lone":"\ud800"}`, `{"id":7,"params":{"id":8,"_meta":{"progressToken":9}}}`,
		`{"x":"\"id\":1,\"progressToken\":2","y":"\\"}`, `{"__proto__":null,"":[]}`, `{"a":[[[[{}]]]],"e":"` + strings.Repeat("ü", 2000) + `"}`,
	} {
		id := `"\u0069d-` + itoa(int64(i)) + `"`
		answer := w.begin(http.MethodPost, `{ "params" : {"name":"x" ,"arguments":`+c+`} ,"id":`+id+`, "jsonrpc":"2.0","method":"tools\/call"}`, in...)
		number, frame := way.NextRequest()
		require.Equal(t, `{ "params" : {"name":"x" ,"arguments":`+c+`} ,"id":`+number+`, "jsonrpc":"2.0","method":"tools\/call"}`, frame)
		way.Say(`{"result" :{"content":` + c + `}, "id": ` + number + ` ,"jsonrpc":"2.0"}`)
		require.Equal(t, `{"result" :{"content":`+c+`}, "id": `+id+` ,"jsonrpc":"2.0"}`, (<-answer).all())
	}
}
