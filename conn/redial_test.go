package conn_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// server is what a Redialer under test dials: each dial takes a while and gives
// a pipe to a peer that echoes.
type server struct {
	takes time.Duration
	fails func(dial int) error // nil: never
	o     conn.Options         // of our side

	mu    sync.Mutex
	dials []time.Time
	peers []*conn.Conn
	ours  []*conn.Conn
}

func (s *server) dial(ctx context.Context) (*conn.Conn, error) {
	s.mu.Lock()
	s.dials = append(s.dials, time.Now())
	n := len(s.dials)
	s.mu.Unlock()
	if s.takes > 0 {
		<-time.After(s.takes) // deaf to ctx, as some dials are
	}
	if s.fails != nil {
		if err := s.fails(n); err != nil {
			return nil, err
		}
	}
	a, b := net.Pipe()
	peer, err := conn.New(b, conn.Options{Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
		switch {
		case r.IsNotification():
		case r.Method() == "hold":
			<-ctx.Done()
		default:
			_ = r.Reply(r.Params())
		}
	})})
	if err != nil {
		return nil, err
	}
	c, err := conn.New(a, s.o)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers = append(s.peers, peer)
	s.ours = append(s.ours, c)
	return c, err
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.dials)
}

// drop ends the latest connection from the peer's side.
func (s *server) drop() {
	s.mu.Lock()
	peer := s.peers[len(s.peers)-1]
	s.mu.Unlock()
	_ = peer.Close()
}

// end closes everything, so that the bubble can end.
func (s *server) end(r *conn.Redialer) {
	_ = r.Close()
	<-r.Done()
	for _, c := range append(s.peers, s.ours...) {
		_ = c.Close()
	}
}

func redialer(t *testing.T, s *server, change func(*conn.RedialOptions)) *conn.Redialer {
	t.Helper()
	o := conn.RedialOptions{Dial: s.dial, Random: func() float64 { return 0.5 }}
	if change != nil {
		change(&o)
	}
	r, err := conn.NewRedialer(o)
	require.NoError(t, err)
	t.Cleanup(func() { s.end(r) })
	return r
}

// many makes n calls at once and gives how each ended.
func many(t *testing.T, c conn.Caller, n int) []error {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			var got []byte
			got, errs[i] = c.Call(t.Context(), "echo", []byte(`[7]`), conn.CallOptions{})
			if errs[i] == nil && string(got) != `[7]` {
				errs[i] = errors.New("wrong answer: " + string(got))
			}
		})
	}
	wg.Wait()
	return errs
}

func TestG10OneDial(t *testing.T) {
	t.Run("all wait for it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &server{takes: 50 * time.Millisecond}
			r := redialer(t, s, nil)
			require.Zero(t, s.count(), "dialled unasked")
			for _, err := range many(t, r, 100) {
				require.NoError(t, err)
			}
			require.Equal(t, 1, s.count())
		})
	})

	t.Run("its failure is everybody's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			refused := errors.New("refused")
			s := &server{takes: 50 * time.Millisecond, fails: func(int) error { return refused }}
			r := redialer(t, s, func(o *conn.RedialOptions) { o.OnDemand = true })
			begun := time.Now()
			for _, err := range many(t, r, 100) {
				require.ErrorIs(t, err, refused)
				failed, ok := errors.AsType[*conn.DialError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, 1, failed.Attempt)
				sent, known := conn.Sent(err)
				require.True(t, known && !sent)
			}
			require.Equal(t, 1, s.count())
			require.Equal(t, 50*time.Millisecond, time.Since(begun))

			for _, err := range many(t, r, 100) {
				require.ErrorIs(t, err, refused)
			}
			require.Equal(t, 2, s.count())
		})
	})

	t.Run("closed during the dial", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &server{takes: 50 * time.Millisecond}
			r := redialer(t, s, nil)
			time.AfterFunc(20*time.Millisecond, func() { _ = r.Close() })
			begun := time.Now()
			for _, err := range many(t, r, 100) {
				require.ErrorIs(t, err, conn.ErrClosed)
			}
			require.Equal(t, 20*time.Millisecond, time.Since(begun))
			<-r.Done()
			require.Equal(t, 1, s.count())
			<-s.ours[0].Done() // the connection that came too late is closed
			<-s.peers[0].Done()
			_, err := r.Call(t.Context(), "echo", nil, conn.CallOptions{})
			require.ErrorIs(t, err, conn.ErrClosed)
			require.Nil(t, r.Conn())
		})
	})
}

// Pending calls fail when the connection is lost; new ones wait for the next.
func TestRedialAfterLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		s := &server{takes: time.Second}
		r := redialer(t, s, func(o *conn.RedialOptions) {
			o.OnConnect = func(ctx context.Context, c *conn.Conn) error {
				_, err := c.Call(ctx, "handshake", nil, conn.CallOptions{})
				events = append(events, "connect")
				return err
			}
			o.OnDown = func(err error) {
				if _, gone := errors.AsType[*conn.PeerGone](err); gone {
					events = append(events, "down")
				} else if errors.Is(err, conn.ErrClosed) {
					events = append(events, "closed")
				}
			}
		})
		_, err := r.Call(t.Context(), "echo", []byte(`1`), conn.CallOptions{})
		require.NoError(t, err)

		held := make(chan error, 1)
		go func() {
			_, err := r.Call(t.Context(), "hold", nil, conn.CallOptions{Timeout: engine.NoTimeout})
			held <- err
		}()
		synctest.Wait()
		s.drop()
		err = <-held
		require.ErrorIs(t, err, conn.ErrClosed)
		sent, known := conn.Sent(err)
		require.True(t, sent && known, "it may have taken effect")

		for _, err := range many(t, r, 10) {
			require.NoError(t, err)
		}
		require.Equal(t, []string{"connect", "down", "connect"}, events)
		require.Equal(t, 2, s.count())
		require.NoError(t, r.Close())
		<-r.Done()
		require.Equal(t, []string{"connect", "down", "connect", "closed"}, events)
	})
}

// After a connection once stood, calls outlast any number of failed dials,
// within their own time.
func TestCallsOutlastARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		s := &server{fails: func(n int) error {
			if n > 1 && n < 6 {
				return refused
			}
			return nil
		}}
		r := redialer(t, s, nil)
		_, err := r.Connect(t.Context())
		require.NoError(t, err)
		s.drop()
		synctest.Wait()

		short := make(chan error, 1)
		go func() {
			_, err := r.Call(t.Context(), "echo", nil, conn.CallOptions{Timeout: 200 * time.Millisecond})
			short <- err
		}()
		_, err = r.Call(t.Context(), "echo", []byte(`1`), conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, 6, s.count())

		err = <-short
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, refused, "it says why there was no connection")
		expired, ok := errors.AsType[*engine.CallError](err)
		require.True(t, ok)
		require.Equal(t, 200*time.Millisecond, expired.Budget)
		require.Equal(t, engine.DeadlineTotal, expired.Deadline)
		require.False(t, expired.Sent)
	})
}

func TestRedialAttempts(t *testing.T) {
	for name, tc := range map[string]struct {
		attempts, dials int
		err             error
	}{
		"zero":     {0, 1, nil},
		"three":    {3, 3, nil},
		"no limit": {-1, 8, conn.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				refused := errors.New("refused")
				s := &server{fails: func(int) error { return refused }}
				r := redialer(t, s, func(o *conn.RedialOptions) { o.Attempts = tc.attempts; o.OnDemand = true })
				_, err := r.Call(t.Context(), "echo", nil, conn.CallOptions{Timeout: 10 * time.Second})
				require.ErrorIs(t, err, refused)
				if tc.err != nil {
					require.ErrorIs(t, err, tc.err)
				}
				require.Equal(t, tc.dials, s.count())
			})
		})
	}
}

func TestRedialWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: time.Hour}
		r := redialer(t, s, func(o *conn.RedialOptions) {
			o.WaitTimeout = 3 * time.Second
			o.DialTimeout = -1
			o.MaxWaiting = 2
		})

		begun := time.Now()
		_, err := r.Call(t.Context(), "echo", nil, conn.CallOptions{})
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.Equal(t, 3*time.Second, time.Since(begun))
		require.ErrorIs(t, r.Notify(t.Context(), "n", nil), conn.ErrTimeout)
		_, err = r.Start(t.Context(), "m", nil, conn.CallOptions{Timeout: time.Second}, nil)
		require.ErrorIs(t, err, conn.ErrTimeout)

		begun = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.Call(ctx, "echo", nil, conn.CallOptions{})
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.Equal(t, time.Second, time.Since(begun))
		expired, ok := errors.AsType[*engine.CallError](err)
		require.True(t, ok)
		require.Equal(t, engine.DeadlineContext, expired.Deadline)

		ctx, stop := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		time.AfterFunc(time.Second, func() { stop(enough) })
		_, err = r.Call(ctx, "echo", nil, conn.CallOptions{})
		require.ErrorIs(t, err, conn.ErrCancelled)
		require.ErrorIs(t, err, enough)

		_, err = r.Call(t.Context(), "echo", nil, conn.CallOptions{NoWait: true})
		require.ErrorIs(t, err, conn.ErrDown)

		var full atomic.Int32
		for _, err := range many(t, r, 5) {
			if errors.Is(err, conn.ErrFull) {
				full.Add(1)
			}
		}
		require.EqualValues(t, 3, full.Load())
		require.Equal(t, 1, s.count())
	})
}

// What waiting took is not there for the call any more.
func TestTimeoutCoversTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: 700 * time.Millisecond}
		r := redialer(t, s, nil)
		begun := time.Now()
		_, err := r.Call(t.Context(), "hold", nil, conn.CallOptions{Timeout: time.Second})
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.InDelta(t, time.Second, time.Since(begun), float64(5*time.Millisecond))
	})
}

// A call that times out is no reason to leave a connection.
func TestL20TimeoutKeepsTheLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		r := redialer(t, s, nil)
		for range 20 {
			_, err := r.Call(t.Context(), "hold", nil, conn.CallOptions{Timeout: 50 * time.Millisecond})
			require.ErrorIs(t, err, conn.ErrTimeout)
		}
		_, err := r.Call(t.Context(), "echo", []byte(`1`), conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, 1, s.count())
	})
}

func TestTypedCallThroughRedialer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := redialer(t, &server{}, nil)
		got, err := conn.Call[[]string](t.Context(), r, "echo", []string{"a", "b"}, conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, got)
	})
}
