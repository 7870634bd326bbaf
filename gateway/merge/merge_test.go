package merge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/merge"
)

func TestCut(t *testing.T) {
	for name, want := range map[string]merge.Name{
		"files__read":     {Upstream: "files", Rest: "read"},
		"files__a__b":     {Upstream: "files", Rest: "a__b"},
		"files___private": {Upstream: "files", Rest: "_private"},
	} {
		got, ok := merge.Cut(name)
		require.True(t, ok, name)
		require.Equal(t, want, got)
		require.Equal(t, name, got.String())
	}
	for _, name := range []string{"", "read", "__read", "files__", "files_read"} {
		_, ok := merge.Cut(name)
		require.False(t, ok, name)
	}
}
