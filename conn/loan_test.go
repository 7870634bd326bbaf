package conn_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
)

// long is params that a caller that waits lends to the writer.
func long(letter string) string { return `"` + strings.Repeat(letter, 4<<10) + `"` }

func TestLongParamsAreTheCallersAgainWhenCallReturns(t *testing.T) {
	near, far := echo.Pipe()
	served := make(chan error, 1)
	go func() { served <- echo.Serve(far, echo.Options{}) }()
	c, err := conn.New(near, conn.Options{})
	require.NoError(t, err)
	const callers, calls = 16, 200
	var wg sync.WaitGroup
	failed := make(chan error, callers)
	for caller := range callers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(caller)))
			params := []byte(long("x"))
			for n := range calls {
				for i := 1; i < len(params)-1; i++ { // the writer must not see this of the call before
					params[i] = byte('a' + (n+caller)%26)
				}
				want := bytes.Clone(params)
				ctx, cancel := context.WithCancel(background)
				if random.IntN(4) == 0 {
					go cancel() // finds the request queued, being copied, written or answered
				}
				result, err := c.Call(ctx, "echo", params, conn.CallOptions{})
				cancel()
				switch {
				case err == nil && !bytes.Equal(result, want):
					failed <- fmt.Errorf("call %d of caller %d got another's answer", n, caller)
					return
				case err != nil && !errors.Is(err, context.Canceled):
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	require.Empty(t, failed)
	require.NoError(t, c.Flush(background))
	s := c.Stats()
	require.Zero(t, s.Unreadable)
	require.Equal(t, s.Calls.Registered, s.FramesOut+s.Skipped)
	require.NoError(t, c.Close())
	require.NoError(t, <-served)
}

func TestLongParamsOfACallThatEndsInTheQueueAreNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		first := call(background, c, "first", long("a"), conn.CallOptions{})
		synctest.Wait() // the writer hangs in the write of the first
		ctx, cancel := context.WithCancel(background)
		second := call(ctx, c, "second", long("b"), conn.CallOptions{})
		third := call(background, c, "third", long("c"), conn.CallOptions{})
		synctest.Wait()
		cancel()
		require.ErrorIs(t, (<-second).err, context.Canceled) // though the peer does not read
		for i, want := range []string{"first", "third"} {
			m := p.read()
			require.Equal(t, want, m.Method)
			require.Equal(t, long(string("ac"[i])), string(m.Params))
			p.result(m, `1`)
		}
		require.Equal(t, reply{result: "1"}, <-first)
		require.Equal(t, reply{result: "1"}, <-third)
		s := c.Stats()
		require.Equal(t, uint64(1), s.Skipped)
		require.Zero(t, s.CancelsOut)
		require.Zero(t, c.Queued())
	})
}

func TestAnAnswerToLongParamsThatWereNotWrittenYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		first := call(background, c, "first", long("a"), conn.CallOptions{})
		synctest.Wait()
		params := []byte(long("b"))
		second := make(chan reply, 1)
		var id codec.ID
		go func() {
			result, err := c.Call(background, "second", params, conn.CallOptions{ID: &id})
			clear(params)
			second <- reply{string(result), err}
		}()
		synctest.Wait()
		p.send(resultFor([]byte(id.Text()), `"guessed"`))
		require.Equal(t, reply{result: `"guessed"`}, <-second)
		m := p.read()
		require.Equal(t, "first", m.Method)
		p.result(m, `1`)
		require.Equal(t, reply{result: "1"}, <-first)
		requireWorks(t, c, p) // the second was not written
	})
}

func TestCallsOfLongParamsFailWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := connect(t, conn.Options{CloseTimeout: -1})
		var calls []<-chan reply
		for range 3 {
			calls = append(calls, call(background, c, "stuck", long("a"), conn.CallOptions{}))
			synctest.Wait()
		}
		require.NoError(t, c.Close())
		for _, ended := range calls {
			require.ErrorIs(t, (<-ended).err, conn.ErrClosed)
		}
	})
}
