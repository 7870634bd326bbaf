package toolschema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/internal/toolschema"
)

func call(t *testing.T, method, params string) *codec.Message {
	t.Helper()
	m, err := codec.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`), codec.ScanOptions{})
	require.NoError(t, err)
	return &m
}

// A schema is known to who saw it, by the exact name, until a list has the tool without.
func TestSchemas(t *testing.T) {
	var s toolschema.Schemas
	const schema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	of := func(who, method, params string) string {
		schema, arguments, err := s.Of(who, call(t, method, params))
		require.NoError(t, err)
		if schema == nil {
			return ""
		}
		return string(schema) + string(arguments)
	}
	s.Learn("a", []byte(`{"tools":[{"name":"plain","inputSchema":{}}]}`))
	require.Empty(t, of("a", "tools/call", `{"name":"plain"}`))
	s.Learn("a", []byte(`{"tools":[{"name":"plain","inputSchema":{}},{"name":"t","inputSchema":`+schema+`}]}`))
	require.Equal(t, schema+`{"region":"x"}`, of("a", "tools/call", `{"name":"t","arguments":{"region":"x"},"Arguments":{}}`))
	require.Equal(t, schema+`{}`, of("a", "tools/call", `{"name":"t"}`))
	for _, twice := range []string{
		`{"name":"t","arguments":{"region":1,"region":1}}`, `{"name":"t","arguments":{"region":1,"reg\u0069on":2}}`,
		`{"name":"t","arguments":{},"arguments":{}}`,
	} {
		_, _, err := s.Of("a", call(t, "tools/call", twice))
		require.ErrorIs(t, err, codec.ErrDuplicateMember, twice)
		require.Empty(t, of("b", "tools/call", twice))
	}
	require.NotEmpty(t, of("a", "tools/call", `{"name":"t","arguments":{"free":1,"free":2,"deep":{"region":1,"region":2}}}`))
	require.Empty(t, of("b", "tools/call", `{"name":"t"}`), "who has seen no list")
	require.Empty(t, of("a", "tools/call", `{"name":"T"}`))
	require.Empty(t, of("a", "prompts/get", `{"name":"t"}`))
	s.Learn("a", []byte(`rubbish`))
	s.Learn("a", []byte(`{"tools":[{"name":"t","inputSchema":{}}]}`))
	require.Empty(t, of("a", "tools/call", `{"name":"t"}`), "it wants none any more")
}
