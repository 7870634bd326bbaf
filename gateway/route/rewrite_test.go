package route_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/route"
)

func parse(t testing.TB, frame string) *codec.Message {
	t.Helper()
	m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
	require.NoError(t, err)
	return &m
}

func made(m *codec.Message, r *route.Rewrite) string {
	return string(codec.AppendSplice(nil, m.Frame(), r.Edits...))
}

// Whatever the order of the members, only the spans change.
func TestRequestAnyOrder(t *testing.T) {
	var r route.Rewrite
	for frame, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a","method":"m","params":{"_meta":{"progressToken":"t"}}}`:                            `{"jsonrpc":"2.0","id":77,"method":"m","params":{"_meta":{"progressToken":77}}}`,
		`{"params":{"x":{"id":1,"progressToken":2},"_meta":{"progressToken":9}},"id":1,"method":"m","jsonrpc":"2.0"}`: `{"params":{"x":{"id":1,"progressToken":2},"_meta":{"progressToken":77}},"id":77,"method":"m","jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":123456,"method":"m"}`:                                                                  `{"jsonrpc":"2.0","id":77,"method":"m"}`,
	} {
		m := parse(t, frame)
		r.Request(m, 77)
		require.Equal(t, want, made(m, &r))
	}
}

func TestAnswerRestoresSubscription(t *testing.T) {
	var r route.Rewrite
	id := route.EchoOf(parse(t, `{"jsonrpc":"2.0","id":"\u0061","method":"m"}`))
	m := parse(t, `{"jsonrpc":"2.0","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":77}},"id":77}`)
	r.Answer(m, 77, id)
	require.Equal(t, `{"jsonrpc":"2.0","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"\u0061"}},"id":"\u0061"}`, made(m, &r))
	m = parse(t, `{"jsonrpc":"2.0","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":78}},"id":77}`)
	r.Answer(m, 77, id)
	require.Equal(t, `{"jsonrpc":"2.0","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":78}},"id":"\u0061"}`, made(m, &r))
}

func TestTable(t *testing.T) {
	table := route.NewTable[int]()
	one, text := route.Key{Client: 1, ID: codec.IntID(1)}, route.Key{Client: 1, ID: codec.StringID("1")}
	other := route.Key{Client: 2, ID: codec.IntID(1)}
	for i, k := range []route.Key{one, text, other} {
		require.True(t, table.Add(k, i))
	}
	require.False(t, table.Add(one, 9))
	v, ok := table.Find(one)
	require.True(t, ok)
	require.Zero(t, v)
	table.Remove(one)
	_, ok = table.Find(one)
	require.False(t, ok)
	v, ok = table.Find(text)
	require.True(t, ok)
	require.Equal(t, 1, v)
	require.Equal(t, 2, table.Len())
}

// An id keeps its spelling as well as its type.
func FuzzEcho(f *testing.F) {
	for _, raw := range []string{`1`, `"1"`, `"\u0031"`, `-0`, `18446744073709551616`, `""`, `"a\/b"`, `0`} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		id, err := codec.ParseID([]byte(raw), codec.JSONRPC)
		e, failed := route.EchoText([]byte(raw))
		require.Equal(t, err == nil, failed == nil)
		if err == nil {
			require.Equal(t, raw, string(e.Append(nil)))
			require.Equal(t, id, e.ID())
		}
	})
}

func ExampleRewrite() {
	frame := []byte(`{ "jsonrpc":"2.0", "id":"x", "method":"tools/call", "params":{"name":"t","_meta":{"progressToken":1}} }`)
	m, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var r route.Rewrite
	r.Request(&m, 4711)
	fmt.Printf("%s\n", codec.AppendSplice(nil, frame, r.Edits...))
	// Output: { "jsonrpc":"2.0", "id":4711, "method":"tools/call", "params":{"name":"t","_meta":{"progressToken":4711}} }
}
