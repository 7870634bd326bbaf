package mcp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// An argument that a header repeats stands once; all others are none of its business.
func TestParamHeadersOfArgumentsThatStandTwice(t *testing.T) {
	schema := []byte(`{"properties":{"region":{"type":"string","x-mcp-header":"Region"},"free":{"type":"string"}}}`)
	for _, twice := range []string{
		`{"region":"eu","region":"us"}`, `{"region":"eu","reg\u0069on":"eu"}`, `{"region":null,"free":1,"region":"eu"}`,
	} {
		_, err := mcp.ParamHeaders(schema, []byte(twice))
		require.ErrorIs(t, err, codec.ErrDuplicateMember, twice)
		require.ErrorContains(t, err, `"region"`)
	}
	headers, err := mcp.ParamHeaders(schema, []byte(`{"free":"a","region":"eu","free":"b","Region":"us","deep":{"region":1,"region":2}}`))
	require.NoError(t, err)
	require.Equal(t, []mcp.ParamHeader{{Name: "Mcp-Param-Region", Value: "eu"}}, headers)
	_, err = mcp.ParamHeaders([]byte(`{"properties":{"region":{"x-mcp-header":"Region"}}}`), nil)
	require.Error(t, err)
	require.NotErrorIs(t, err, codec.ErrDuplicateMember)
}
