package conn_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// A frame that is large is asked for while it grows, and given back when it is whole;
// small ones ask for nothing.
func TestPartialAsksAndGivesBack(t *testing.T) {
	var held, most atomic.Int64
	got := make(chan int, 1)
	_, peer := relayPair(t, &relayTo{receive: func(m *codec.Message) { got <- len(m.Frame()) }}, conn.Options{Partial: func(n int64) error {
		most.Store(max(most.Load(), held.Add(n)))
		return nil
	}})
	for _, size := range []int{100, 1 << 20, 100} {
		frame := `{"jsonrpc":"2.0","method":"m","params":["` + strings.Repeat("x", size) + `"]}`
		go func() { _, _ = io.WriteString(peer, frame+"\n") }()
		require.Equal(t, len(frame), <-got)
		require.Eventually(t, func() bool { return held.Load() == 0 }, 10*time.Second, time.Millisecond)
		if size == 100 && most.Load() != 0 {
			require.InDelta(t, 1<<20, most.Load(), 2*conn.PartialFree)
		}
	}
	require.NotZero(t, most.Load())
}

// Who is refused is let go of, with why, and holds nothing any more.
func TestPartialRefused(t *testing.T) {
	var held atomic.Int64
	errMuch := errors.New("too much")
	ended := make(chan error, 1)
	c, peer := relayPair(t, &relayTo{}, conn.Options{OnClose: func(err error) { ended <- err }, Partial: func(n int64) error {
		if n > 0 && held.Load()+n > 100<<10 {
			return errMuch
		}
		held.Add(n)
		return nil
	}})
	go writeForEver(peer)
	require.ErrorIs(t, <-ended, errMuch)
	<-c.Done()
	require.Zero(t, held.Load())
}

func writeForEver(peer net.Conn) {
	junk := []byte(strings.Repeat("[", 4096))
	for {
		if _, err := peer.Write(junk); err != nil {
			return
		}
	}
}
