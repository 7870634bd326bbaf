package peer_test

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/load"
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

// Who carries JSON-RPC is measured with calls that nobody answers: they end, by
// their timeout and not before it, and the next call is answered.
func TestCallsTimeOut(t *testing.T) {
	for _, p := range peer.All() {
		if p.Class != peer.JSON && p.Class != peer.Ours && p.Class != peer.Adapted {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			c, err := p.Open(link(t, p, true))
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			const timeout = 30 * time.Millisecond
			stuck, err := c.Caller(peer.Work{Name: server.Stuck, Text: "x", Timeout: timeout})
			require.NoError(t, err)
			began := time.Now()
			require.Error(t, stuck())
			require.GreaterOrEqual(t, time.Since(began), timeout)
			call, err := c.Caller(peer.Work{Name: server.Method, Text: "xy", Timeout: 10 * time.Second, Exact: true})
			require.NoError(t, err)
			require.NoError(t, call())
		})
	}
}

// A wrong answer is an error, not a call.
func TestAnswersAreChecked(t *testing.T) {
	for _, p := range peer.All() {
		if p.Server != server.Lines {
			continue
		}
		c, err := p.Open(peer.Link{Callers: 1, Dial: func() (io.ReadWriteCloser, error) {
			near, far := echo.Pipe()
			go func() { _ = echo.Serve(upper{far}, echo.Options{}) }()
			return near, nil
		}})
		require.NoError(t, err)
		call, err := c.Caller(peer.Work{Name: server.Method, Text: "xy", Timeout: 10 * time.Second, Exact: true})
		require.NoError(t, err)
		require.ErrorIsf(t, call(), peer.ErrEcho, p.Name)
		require.NoError(t, c.Close())
	}
}

// upper gives answers another text.
type upper struct{ io.ReadWriteCloser }

func (u upper) Write(p []byte) (int, error) {
	return u.ReadWriteCloser.Write(bytes.ReplaceAll(p, []byte("xy"), []byte("XY")))
}

// Those who keep calls in flight without a goroutine for each stop when asked to,
// with every call ended.
func TestPumps(t *testing.T) {
	for _, p := range peer.All() {
		c, err := p.Open(link(t, p, false))
		require.NoError(t, err)
		if c.Pump != nil {
			w := peer.Work{Name: server.Method, Text: strings.Repeat("x", 100), Timeout: 10 * time.Second, Exact: true}
			plan := load.Plan{Warm: time.Millisecond, Window: 5 * time.Millisecond, Most: 10 * time.Second, Budget: 10 * time.Second}
			f, err := load.Pumped(64, plan, load.Meter{}, func(l *load.Loop) error { return c.Pump(w, 64, l) })
			require.NoErrorf(t, err, p.Name)
			require.Positive(t, f[load.Rate])
		}
		require.NoError(t, c.Close())
	}
}

func TestGet(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range peer.All() {
		require.Falsef(t, seen[p.Name], "%s twice", p.Name)
		seen[p.Name] = true
		got, err := peer.Get(p.Name)
		require.NoError(t, err)
		require.Equal(t, p.Server, got.Server)
	}
	_, err := peer.Get("nobody")
	require.ErrorContains(t, err, "nobody")
}
