package peer_test

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/server"
	"github.com/correlator-go/correlator/internal/echo"
)

// link connects to a server of its own over an in-memory pipe.
func link(t *testing.T, p peer.Peer, dropping bool) peer.Link {
	t.Helper()
	serve, err := server.Get(p.Server, dropping)
	require.NoError(t, err)
	var served sync.WaitGroup
	t.Cleanup(served.Wait)
	return peer.Link{Callers: 8, Dial: func() (io.ReadWriteCloser, error) {
		near, far := echo.Pipe()
		served.Go(func() { _ = serve(far) })
		return near, nil
	}}
}

func TestEveryPeerGetsItsTextBack(t *testing.T) {
	for _, p := range peer.All() {
		for _, size := range []int{1, 100, 4096} {
			t.Run(p.Name, func(t *testing.T) {
				c, err := p.Open(link(t, p, false))
				require.NoError(t, err)
				defer func() { require.NoError(t, c.Close()) }()
				w := peer.Work{Name: server.Method, Text: strings.Repeat("x", size-1) + "y", Timeout: 10 * time.Second, Exact: true}
				call, err := c.Caller(w)
				require.NoError(t, err)
				for range 3 {
					require.NoError(t, call())
				}
			})
		}
	}
}
