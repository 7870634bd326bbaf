package rival_test

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/rival"
)

func TestFloorMatchesByOrder(t *testing.T) {
	client, server := net.Pipe()
	go func() {
		lines := bufio.NewScanner(server)
		for lines.Scan() {
			if _, err := fmt.Fprintf(server, "%s!\n", lines.Text()); err != nil {
				return
			}
		}
	}()
	const callers = 50
	f := rival.NewFloor(client, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			c := rival.NewFloorCaller()
			for k := range 20 {
				require.NoError(t, f.Call(c, fmt.Appendf(nil, "%d-%d\n", i, k)))
				require.Equal(t, fmt.Sprintf("%d-%d!", i, k), string(c.Answer))
			}
		})
	}
	wg.Wait()
	require.Less(t, f.Writes(), int64(callers*20))

	require.NoError(t, f.Close())
	require.Error(t, f.Call(rival.NewFloorCaller(), []byte("x\n")))
}
