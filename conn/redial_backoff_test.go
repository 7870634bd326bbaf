package conn_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// pauses are the times between the dials so far.
func (s *server) pauses() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []time.Duration
	for i := 1; i < len(s.dials); i++ {
		out = append(out, s.dials[i].Sub(s.dials[i-1]))
	}
	return out
}

func TestBackoffDoublesWithJitter(t *testing.T) {
	for name, tc := range map[string]struct {
		random float64
		want   []time.Duration // in milliseconds
	}{
		"least": {0, []time.Duration{50, 100, 200, 250, 250}},
		"mean":  {0.5, []time.Duration{75, 150, 300, 375, 375}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{fails: func(int) error { return errors.New("refused") }}
				r := redialer(t, s, func(o *conn.RedialOptions) {
					o.Attempts = 6
					o.Backoff.Max = 500 * time.Millisecond
					o.Random = func() float64 { return tc.random }
				})
				_, err := r.Connect(t.Context())
				failed, ok := errors.AsType[*conn.DialError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, 6, failed.Attempt)
				got := s.pauses()
				require.Len(t, got, 5)
				for i, want := range tc.want {
					require.Equal(t, want*time.Millisecond, got[i])
				}
			})
		})
	}
}

// A connection that lasted is dialled again at once; one that did not, after
// the pause that a failed dial would bring.
func TestBackoffOfShortLivedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		r := redialer(t, s, func(o *conn.RedialOptions) { o.Random = func() float64 { return 1 } })
		live := func(d time.Duration) {
			_, err := r.Connect(t.Context())
			require.NoError(t, err)
			<-time.After(d)
			s.drop()
			synctest.Wait()
		}
		live(time.Second)
		live(time.Second)
		live(conn.DefaultBackoffStable)
		live(0)
		_, err := r.Connect(t.Context())
		require.NoError(t, err)
		require.Equal(t, []time.Duration{
			time.Second + 100*time.Millisecond,
			time.Second + 200*time.Millisecond,
			conn.DefaultBackoffStable,
			100 * time.Millisecond,
		}, s.pauses())
	})
}

func TestRedialOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		r := redialer(t, s, func(o *conn.RedialOptions) { o.OnDemand = true })
		for want := 1; want <= 3; want++ {
			for _, err := range many(t, r, 10) {
				require.NoError(t, err)
			}
			require.Equal(t, want, s.count())
			<-time.After(time.Minute)
			s.drop()
			<-time.After(time.Minute)
			require.Equal(t, want, s.count(), "dialled unasked")
			require.Nil(t, r.Conn())
		}
		_, err := r.Call(t.Context(), "echo", nil, conn.CallOptions{NoWait: true})
		require.ErrorIs(t, err, conn.ErrDown)
		synctest.Wait()
		require.NotNil(t, r.Conn(), "a call that does not wait asks for a connection all the same")
	})
}

func TestRedialByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		r := redialer(t, s, nil)
		_, err := r.Connect(t.Context())
		require.NoError(t, err)
		<-time.After(time.Minute)
		s.drop()
		synctest.Wait()
		require.Equal(t, 2, s.count())
		require.NotNil(t, r.Conn())
	})
}

func TestDialTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := conn.NewRedialer(conn.RedialOptions{
			DialTimeout: 2 * time.Second,
			Dial: func(ctx context.Context) (*conn.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		require.NoError(t, err)
		begun := time.Now()
		_, err = r.Connect(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "dial took too long")
		require.Equal(t, 2*time.Second, time.Since(begun))
		require.NoError(t, r.Close())
		<-r.Done()
	})
}

// A failed handshake is a failed dial, and its connection is closed.
func TestOnConnectFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		unfit := errors.New("unsupported version")
		downs := 0
		r := redialer(t, s, func(o *conn.RedialOptions) {
			o.OnConnect = func(context.Context, *conn.Conn) error { return unfit }
			o.OnDown = func(error) { downs++ }
		})
		_, err := r.Connect(t.Context())
		require.ErrorIs(t, err, unfit)
		<-s.ours[0].Done()
		require.Zero(t, downs)
	})
}

func TestRedialerWithoutDial(t *testing.T) {
	_, err := conn.NewRedialer(conn.RedialOptions{})
	option, ok := errors.AsType[*conn.OptionError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "Dial", option.Field)
}

func TestDialGivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := conn.NewRedialer(conn.RedialOptions{Dial: func(context.Context) (*conn.Conn, error) { return nil, nil }})
		require.NoError(t, err)
		_, err = r.Connect(t.Context())
		require.ErrorContains(t, err, "neither a connection nor an error")
		require.NoError(t, r.Close())
		<-r.Done()
	})
}

func TestRedialerClose(t *testing.T) {
	t.Run("unused", func(t *testing.T) {
		r, err := conn.NewRedialer(conn.RedialOptions{Dial: (&server{}).dial})
		require.NoError(t, err)
		require.NoError(t, r.Close())
		<-r.Done()
	})
	t.Run("many at once, and from the hooks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &server{}
			var r *conn.Redialer
			r = redialer(t, s, func(o *conn.RedialOptions) {
				o.OnConnect = func(context.Context, *conn.Conn) error { return nil }
				o.OnDown = func(error) { _ = r.Close() }
			})
			_, err := r.Connect(t.Context())
			require.NoError(t, err)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { _ = r.Close() })
			}
			wg.Wait()
			<-r.Done()
		})
	})
	t.Run("during the pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &server{fails: func(int) error { return errors.New("refused") }}
			r := redialer(t, s, nil)
			_, err := r.Connect(t.Context())
			require.Error(t, err)
			require.NoError(t, r.Close())
			<-r.Done()
			require.Equal(t, 1, s.count())
		})
	})
}
