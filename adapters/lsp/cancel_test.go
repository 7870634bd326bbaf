package lsp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

var errBored = errors.New("bored")

// giveUp is a context that ends a second from now with errBored.
func giveUp(t *testing.T) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(time.Second, func() { cancel(errBored) })
	t.Cleanup(func() {
		timer.Stop()
		cancel(nil)
	})
	return ctx
}

// A call that is given up is cancelled at the server, and ends at once or with what the
// server says to that.
func TestCancel(t *testing.T) {
	forever := context.Background()
	for _, try := range []struct {
		name    string
		options lsp.CallOptions
		client  time.Duration // Options.Conn.Timeout
		quits   bool          // ctx ends after a second
		answer  string        // to the cancel, a second later; "" is none
		result  string
		is      []error
		not     []error
		ends    time.Duration
		late    uint64
	}{
		{name: "ctx", quits: true, answer: `"error":{"code":-32800,"message":"stopped"}`, is: []error{conn.ErrCancelled, errBored}, not: []error{lsp.ErrRequestCancelled}, ends: time.Second, late: 1},
		{name: "timeout", options: lsp.CallOptions{Timeout: time.Second}, answer: `"result":[1]`, is: []error{conn.ErrTimeout, context.DeadlineExceeded}, ends: time.Second, late: 1},
		{name: "the client's timeout", client: 3 * time.Second, is: []error{conn.ErrTimeout}, ends: 3 * time.Second},
		{name: "grace: the server stops", options: lsp.CallOptions{CancelGrace: time.Minute}, quits: true, answer: `"error":{"code":-32800,"message":"stopped"}`, is: []error{lsp.ErrRequestCancelled, errBored}, not: []error{conn.ErrCancelled, lsp.ErrServerCancelled}, ends: 2 * time.Second},
		{name: "grace: a result all the same", options: lsp.CallOptions{CancelGrace: time.Minute}, quits: true, answer: `"result":[1]`, result: "[1]", ends: 2 * time.Second},
		{name: "grace: another error", options: lsp.CallOptions{CancelGrace: time.Minute, Timeout: time.Second}, answer: `"error":{"code":-32801,"message":"edited"}`, is: []error{lsp.ErrContentModified, conn.ErrTimeout}, ends: 2 * time.Second},
		{name: "grace: no answer to a ctx", options: lsp.CallOptions{CancelGrace: 4 * time.Second}, quits: true, is: []error{conn.ErrCancelled, errBored}, not: []error{conn.ErrTimeout}, ends: 5 * time.Second},
		{name: "grace: no answer to a timeout", options: lsp.CallOptions{CancelGrace: 4 * time.Second, Timeout: time.Second}, is: []error{conn.ErrTimeout}, not: []error{conn.ErrCancelled}, ends: 5 * time.Second},
		{name: "grace: the client's timeout", options: lsp.CallOptions{CancelGrace: 4 * time.Second}, client: 3 * time.Second, is: []error{conn.ErrTimeout}, ends: 7 * time.Second},
		{name: "grace: a minute where nothing is said", options: lsp.CallOptions{CancelGrace: time.Second}, is: []error{conn.ErrTimeout}, ends: 61 * time.Second},
		{name: "grace: no timeout", options: lsp.CallOptions{CancelGrace: 4 * time.Second, Timeout: conn.NoTimeout}, quits: true, is: []error{errBored}, ends: 5 * time.Second},
		{name: "grace for ever", options: lsp.CallOptions{CancelGrace: 1<<63 - 1, Timeout: time.Second}, answer: `"error":{"code":-32800,"message":""}`, is: []error{lsp.ErrRequestCancelled}, ends: 2 * time.Second},
	} {
		t.Run(try.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, cancelled := "", 0
				c := session(t, lsp.Options{Conn: conn.Options{Timeout: try.client}}, func(f *fake, m message) {
					if m.Method == "slow" {
						asked = string(m.ID)
						return
					}
					cancelled++
					require.Equal(t, asked, requestID(t, m))
					if try.answer != "" {
						time.AfterFunc(time.Second, func() { f.send(`"id":%s,%s`, asked, try.answer) })
					}
				})
				ctx := forever
				if try.quits {
					ctx = giveUp(t)
				}
				began := time.Now()
				result, err := c.Call(ctx, "slow", nil, try.options)
				require.Equal(t, try.ends, time.Since(began).Round(10*time.Millisecond))
				require.Equal(t, try.result, string(result))
				if try.result != "" {
					require.NoError(t, err)
				}
				for _, want := range try.is {
					require.ErrorIs(t, err, want)
				}
				for _, other := range try.not {
					require.NotErrorIs(t, err, other)
				}
				time.Sleep(2 * time.Second) // of the bubble: until a late answer has come
				synctest.Wait()
				require.Equal(t, 1, cancelled)
				require.Equal(t, try.late, c.Conn().Stats().Calls.Late)
				require.Zero(t, c.Conn().Stats().Calls.Pending)
				require.NoError(t, c.Shutdown(t.Context()))
			})
		})
	}
}

// A ctx that has ended sends nothing.
func TestCancelledBefore(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			c := session(t, lsp.Options{}, func(_ *fake, m message) { t.Errorf("%s was sent", m.Method) })
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := c.Call(ctx, "slow", nil, lsp.CallOptions{CancelGrace: grace})
			require.ErrorIs(t, err, context.Canceled)
			require.NoError(t, c.Shutdown(t.Context()))
		})
	}
}

// The codes of answers, and of what handlers return, are told by errors.Is.
func TestCodes(t *testing.T) {
	codes := []lsp.Code{
		lsp.ErrParse, lsp.ErrInvalidRequest, lsp.ErrMethodNotFound, lsp.ErrInvalidParams, lsp.ErrInternal, lsp.ErrServerNotInitialized,
		lsp.ErrUnknown, lsp.ErrRequestFailed, lsp.ErrServerCancelled, lsp.ErrContentModified, lsp.ErrRequestCancelled, 17,
	}
	synctest.Test(t, func(t *testing.T) {
		next := 0
		c := session(t, lsp.Options{}, func(f *fake, m message) {
			if next == len(codes) {
				f.send(`"id":%s,"error":"no code at all"`, m.ID)
				return
			}
			f.refuse(m, int(codes[next]), "why")
			next++
		})
		for _, code := range codes {
			_, err := c.Call(t.Context(), "x/y", nil, lsp.CallOptions{})
			require.EqualError(t, err, fmt.Sprintf("x/y: why (%d)", int64(code)))
			for _, other := range codes {
				require.Equal(t, code == other, errors.Is(err, other), "%v is %v", code, other)
			}
			refused := new(codec.Error)
			require.ErrorAs(t, err, &refused)
			require.Equal(t, "why", refused.Message)
		}
		_, err := c.Call(t.Context(), "x/y", nil, lsp.CallOptions{})
		require.ErrorContains(t, err, "no code at all")
		require.NotErrorIs(t, err, lsp.ErrInternal)
		require.NoError(t, c.Shutdown(t.Context()))
	})
	require.EqualError(t, lsp.ErrContentModified, "content modified")
	require.EqualError(t, lsp.Code(17), "error 17")
}
