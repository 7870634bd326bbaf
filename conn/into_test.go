package conn_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/invariants"
)

func TestResultGoesIntoTheCallersMemory(t *testing.T) {
	c, p := connect(t, conn.Options{})
	ask := func(into []byte, result string) []byte {
		done := make(chan reply, 1)
		var got []byte
		go func() {
			var err error
			got, err = c.Call(background, "m", nil, conn.CallOptions{Into: into})
			done <- reply{string(got), err}
		}()
		p.result(p.read(), result)
		require.Equal(t, reply{result, nil}, <-done)
		return got
	}
	memory := []byte("0123456789")
	got := ask(memory, `"eight8"`)
	require.Same(t, &memory[0], &got[0])
	require.Equal(t, `"eight8"89`, string(memory))
	got = ask(memory[:0:10], `"01234567"`)
	require.Same(t, &memory[0], &got[0])
	require.Equal(t, `"01234567"`, string(memory), "its length does not matter, its capacity does")

	got = ask(memory, `"too long for it"`)
	require.NotSame(t, &memory[0], &got[0])
	require.Equal(t, `"01234567"`, string(memory))
	require.NotSame(t, &memory[0], &ask(nil, `1`)[0])
	long := strings.Repeat("x", 5000)
	got = ask(make([]byte, 0, 4), `"`+long+`"`)
	again := ask(got, `"`+long[1:]+`"`)
	require.Same(t, &got[0], &again[0], "a result is memory for the next")
}

// A call that has ended writes nothing any more, whenever its answer comes.
func TestMemoryIsTheCallersAgainWhenCallReturns(t *testing.T) {
	c, p := connect(t, conn.Options{})
	memory := []byte("mine")
	ctx, cancel := context.WithCancel(background)
	done := make(chan error, 1)
	go func() {
		_, err := c.Call(ctx, "m", nil, conn.CallOptions{Into: memory})
		memory[0] = 'M' // also for the race detector
		done <- err
	}()
	first := p.read()
	cancel()
	p.read()
	require.ErrorIs(t, <-done, conn.ErrCancelled)
	p.result(first, `1234`)

	go func() {
		_, err := c.Call(background, "m", nil, conn.CallOptions{Into: memory})
		done <- err
	}()
	p.send(errorFor(p.read().ID, `{"code":1,"message":"no"}`))
	require.Error(t, <-done)
	plain := call(background, c, "m", "", conn.CallOptions{}) // in the same slot
	p.result(p.read(), `5678`)
	require.Equal(t, reply{`5678`, nil}, <-plain)
	require.Equal(t, "Mine", string(memory))
}

func TestCallIntoMemoryAllocatesNothing(t *testing.T) {
	for _, size := range []int{100, 4096} {
		c := toEcho(t, conn.Options{})
		params := []byte(`"` + strings.Repeat("x", size) + `"`)
		var result []byte
		run := func() {
			var err error
			result, err = c.Call(background, "echo", params, conn.CallOptions{Timeout: 30 * time.Second, Into: result})
			if err != nil || len(result) != len(params) {
				t.Errorf("%d bytes, %v", len(result), err)
			}
		}
		for range 100 {
			run()
		}
		got := testing.AllocsPerRun(1000, run)
		if !invariants.Race && !invariants.Enabled {
			require.Zero(t, got)
		}
	}
}

// A call says under which id it goes out, before it waits, with a feed or without.
func TestCallTellsItsID(t *testing.T) {
	c, p := connect(t, conn.Options{})
	for _, progress := range []func(conn.Progress){nil, func(conn.Progress) {}} {
		var id codec.ID
		done := make(chan reply, 1)
		go func() {
			got, err := c.Call(background, "m", nil, conn.CallOptions{ID: &id, Progress: progress})
			done <- reply{string(got), err}
		}()
		m := p.read()
		p.result(m, `1`)
		require.Equal(t, reply{"1", nil}, <-done)
		require.Equal(t, string(m.ID), id.String())
	}
	require.NoError(t, c.Close())
	var id codec.ID
	_, err := c.Call(background, "m", nil, conn.CallOptions{ID: &id})
	require.ErrorIs(t, err, conn.ErrClosed)
	require.True(t, id.IsAbsent())
}
