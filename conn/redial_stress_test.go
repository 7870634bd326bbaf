package conn_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// Callers hammer a link that is cut all the time: every call ends, with its own
// answer or an error that says why, and nothing is left.
func TestRedialStress(t *testing.T) {
	nothingLeft(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serveOn(t, l)

	var dials, alive atomic.Int32
	r, err := conn.NewRedialer(conn.RedialOptions{
		Dial: func(ctx context.Context) (*conn.Conn, error) {
			if alive.Add(1) > 1 {
				t.Error("two dials at once")
			}
			defer alive.Add(-1)
			if dials.Add(1)%3 == 0 {
				return nil, errors.New("refused")
			}
			return conn.Dial(ctx, "tcp", l.Addr().String(), conn.Options{})
		},
		Backoff:  conn.Backoff{Min: time.Microsecond, Max: time.Millisecond},
		Attempts: -1,
	})
	require.NoError(t, err)

	const callers, calls = 16, 300
	var ok, failed atomic.Int32
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for j := range calls {
				want := strconv.Itoa(i*calls + j)
				got, err := r.Call(t.Context(), "echo", []byte(want), conn.CallOptions{})
				switch {
				case err == nil && string(got) == want:
					ok.Add(1)
				case errors.Is(err, conn.ErrClosed):
					failed.Add(1)
				default:
					t.Errorf("call %s: %q, %v", want, got, err)
				}
			}
		})
	}
	callersDone := make(chan struct{})
	go func() {
		wg.Wait()
		close(callersDone)
	}()
	cuts := 0
	for over := false; !over; {
		select {
		case <-callersDone:
			over = true
		default:
			// A cut now and then, after a call of our own went through.
			_, _ = r.Call(t.Context(), "echo", []byte(`0`), conn.CallOptions{})
			if c := r.Conn(); c != nil && random.IntN(4) == 0 && cuts < 100 {
				_ = c.Close()
				cuts++
			}
		}
	}
	require.EqualValues(t, callers*calls, ok.Load()+failed.Load())
	t.Logf("%d answered, %d failed, %d dials, %d cuts", ok.Load(), failed.Load(), dials.Load(), cuts)
	require.NoError(t, r.Close())
	<-r.Done()
}
