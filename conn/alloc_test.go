package conn_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/invariants"
)

// toEcho is a connection to a peer that answers each request with its params,
// and that allocates nothing.
func toEcho(t testing.TB, o conn.Options) *conn.Conn {
	t.Helper()
	ours, theirs := echo.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = echo.Serve(theirs, echo.Options{})
	}()
	c, err := conn.New(ours, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		<-c.Done()
		<-served
	})
	return c
}

func TestAllocations(t *testing.T) {
	params := []byte(`{"text":"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"}`)
	o := conn.CallOptions{Timeout: 30 * time.Second}
	c := toEcho(t, conn.Options{})
	settled := make(chan struct{}, 64)
	notify := func(o conn.Outcome) {
		if o.Err == nil {
			settled <- struct{}{}
		}
	}
	batch := make([]conn.Request, 64)
	for i := range batch {
		batch[i] = conn.Request{Method: "echo", Params: params, Options: o, Notify: notify}
	}
	for _, test := range []struct {
		name string
		most float64
		run  func()
	}{
		{"Call", 1, func() {
			_, err := c.Call(background, "echo", params, o)
			require.NoError(t, err)
		}},
		{"Start", 0, func() {
			_, err := c.Start(background, "echo", params, o, notify)
			require.NoError(t, err)
			<-settled
		}},
		{"Submit", 0, func() {
			_, err := c.Submit(background, batch)
			require.NoError(t, err)
			for range batch {
				<-settled
			}
		}},
		{"Notify, and a call that waits until it is written", 1, func() {
			require.NoError(t, c.Notify(background, "n", params))
			_, err := c.Call(background, "echo", params, o)
			require.NoError(t, err)
		}},
	} {
		for range 100 { // pools and buffers find their size
			test.run()
		}
		got := testing.AllocsPerRun(1000, test.run)
		if !invariants.Race && !invariants.Enabled {
			require.LessOrEqual(t, got, test.most, test.name)
		}
	}
}
