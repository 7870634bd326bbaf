package conn

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResultsAreTheCallersOwn(t *testing.T) {
	var r results
	var kept [][]byte
	for i := range 600 {
		b := bytes.Repeat([]byte{byte(i)}, i%(resultShared+40)+1)
		own := r.copy(b, nil)
		require.Equal(t, b, own)
		_ = append(own, 'x') // must not write into the next
		clear(b)
		kept = append(kept, own)
	}
	for i, own := range kept {
		require.Equal(t, bytes.Repeat([]byte{byte(i)}, i%(resultShared+40)+1), own)
	}
	require.Empty(t, r.copy(nil, nil))
}

func TestResultsThatAreKeptHoldLittle(t *testing.T) {
	var r results
	blocks := 0
	for range 64 {
		before := len(r.free)
		r.copy(make([]byte, 100), nil)
		if len(r.free) > before {
			blocks++
		}
		require.Less(t, len(r.free), resultBlock)
	}
	require.Equal(t, 16, blocks, "four to a block")
	before := len(r.free)
	require.Len(t, r.copy(make([]byte, resultShared+1), nil), resultShared+1)
	require.Len(t, r.free, before, "a longer one has memory of its own")
}
