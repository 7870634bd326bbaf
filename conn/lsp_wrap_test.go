package conn

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// The ids of the LSP profile end where 32 bits do and begin again, past those whose
// calls are pending still: each call gets its own answer, and no id is on two.
func TestP14IDsOfLSPComeAgain(t *testing.T) {
	require.Equal(t, int64(math.MaxInt32), lspIDMax)
	defer func(max int64) { lspIDMax = max }(lspIDMax)
	lspIDMax = 7
	ours, theirs := net.Pipe()
	c, err := New(ours, Options{Profile: codec.LSP, Framer: codec.LineFramer{}, MaxPending: 6})
	require.NoError(t, err)
	defer c.Close()
	lines := bufio.NewScanner(theirs)
	ended := make(chan Outcome, 6)
	begin := func() int64 {
		_, err := c.Start(context.Background(), "x", nil, CallOptions{}, func(o Outcome) {
			o.Value = slices.Clone(o.Value) // the callback's until it returns
			ended <- o
		})
		require.NoError(t, err)
		require.True(t, lines.Scan())
		var m struct{ ID int64 }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &m))
		require.Positive(t, m.ID)
		require.LessOrEqual(t, m.ID, lspIDMax)
		return m.ID
	}
	answer := func(id int64) {
		text := codec.IntID(id).String()
		_, err := io.WriteString(theirs, `{"jsonrpc":"2.0","id":`+text+`,"result":`+text+`}`+"\n")
		require.NoError(t, err)
		o := <-ended
		require.NoError(t, o.Err)
		require.Equal(t, text, string(o.Value))
	}
	held := map[int64]bool{}
	for range 4 {
		held[begin()] = true
	}
	require.Len(t, held, 4)
	for range 50 {
		id := begin()
		require.False(t, held[id], "%d is pending", id)
		answer(id)
	}
	for id := range held {
		answer(id)
	}
	require.Zero(t, c.Stats().Calls.Pending)
}
