package conn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

func TestX06AnswerAfterACancel(t *testing.T) {
	cancels := map[codec.Profile]string{
		codec.MCP: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`,
		codec.LSP: `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}`,
	}
	for profile, cancel := range cancels {
		t.Run(profile.String(), func(t *testing.T) {
			running, answered := make(chan struct{}), make(chan error)
			c, p := connect(t, conn.Options{Profile: profile, Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
				close(running)
				<-ctx.Done()
				require.True(t, r.Cancelled())
				answered <- r.Reply([]byte("1"))
			})})
			p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`)
			<-running
			p.send(cancel, cancel)
			if profile == codec.LSP {
				m := p.read()
				require.Equal(t, codec.CodeRequestCancelled, m.Error.Code)
				require.Equal(t, "5", string(m.ID))
			}
			require.ErrorIs(t, <-answered, conn.ErrAnswered)
			requireWorks(t, c, p)
			require.EqualValues(t, 2, c.Stats().CancelsIn)
			require.EqualValues(t, 1, c.Stats().CancelsUnknown)
		})
	}
}

func TestX07CancelOfIDZero(t *testing.T) {
	running, ended := make(chan struct{}), make(chan string)
	c, p := connect(t, conn.Options{Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
		running <- struct{}{}
		<-ctx.Done()
		ended <- r.ID().String()
	})})
	for id, method := range map[string]string{"0": `notifications/cancelled`, `""`: `notifications\/cancelled`} { // as PHP writes it
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"slow"}`)
		<-running
		p.send(`{"jsonrpc":"2.0","method":"` + method + `","params":{"requestId":` + id + `}}`)
		require.Equal(t, id, <-ended)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	requireWorks(t, c, p)
	require.EqualValues(t, 3, c.Stats().CancelsUnknown)
	require.EqualValues(t, 2, c.Stats().CancelsIn)
}

func TestX09TotalCapHoldsWithoutProgress(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name                  string
		idle, total, progress time.Duration
		ends                  time.Duration
		deadline              engine.Deadline
	}{
		{"silent, the total is shorter", 1000 * ms, 150 * ms, 0, 150 * ms, engine.DeadlineTotal},
		{"no idle deadline", 0, 400 * ms, 0, 400 * ms, engine.DeadlineTotal},
		{"progress moves the idle one only", 100 * ms, 400 * ms, 50 * ms, 400 * ms, engine.DeadlineTotal},
		{"silent, the idle is shorter", 100 * ms, 400 * ms, 0, 100 * ms, engine.DeadlineIdle},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := connect(t, conn.Options{})
				start := time.Now()
				done := call(background, c, "m", "", conn.CallOptions{IdleTimeout: test.idle, Timeout: test.total})
				m := p.read()
				if test.idle > 0 {
					require.JSONEq(t, `{"_meta":{"progressToken":`+string(m.ID)+`}}`, string(m.Params), "asked for without a handler")
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					require.Equal(t, "notifications/cancelled", p.read().Method)
				}()
				if test.progress > 0 {
					for i := 1; time.Since(start) < test.total-test.progress; i++ {
						<-time.After(test.progress)
						p.send(progressFor(m.ID, i))
					}
				}
				err := (<-done).err
				<-ended
				require.InDelta(t, test.ends/ms, time.Since(start)/ms, 1)
				e, ok := errors.AsType[*engine.CallError](err)
				require.True(t, ok)
				require.Equal(t, test.deadline, e.Deadline)
				requireWorks(t, c, p)
			})
		})
	}
}

func TestX11ProgressNextToTheResponse(t *testing.T) {
	for _, blocking := range []bool{true, false} {
		seen := newStrays()
		ours, theirs := newTape()
		c, err := conn.New(ours, conn.Options{OnStray: seen.hook})
		require.NoError(t, err)
		defer c.Close()
		p := &peer{t: t, in: theirs.lines()}
		var order []string
		ended := make(chan struct{})
		o := conn.CallOptions{Progress: func(x conn.Progress) { order = append(order, "progress") }}
		if blocking {
			go func() {
				defer close(ended)
				_, err := c.Call(background, "m", []byte(`{"a":1}`), o)
				require.NoError(t, err)
				order = append(order, "result")
			}()
		} else {
			_, err = c.Start(background, "m", []byte(`{"a":1}`), o, func(conn.Outcome) {
				order = append(order, "result")
				close(ended)
			})
			require.NoError(t, err)
		}
		m := p.read()
		require.JSONEq(t, `{"a":1,"_meta":{"progressToken":`+string(m.ID)+`}}`, string(m.Params))
		theirs.say(progressFor(m.ID, 1) + "\n" + resultFor(m.ID, "1") + "\n" + progressFor(m.ID, 2))
		theirs.say(progressFor([]byte(`"never issued"`), 1) + "\n" + progressFor([]byte(`123456789`), 1) + "\n" + progressFor([]byte(`0`), 1))
		<-ended
		require.Equal(t, conn.StrayProgress, (<-seen.c).Reason)
		require.Equal(t, conn.StrayProgress, (<-seen.c).Reason)
		require.Equal(t, conn.StrayProgress, (<-seen.c).Reason)
		require.Equal(t, []string{"progress", "result"}, order)
		require.EqualValues(t, 1, c.Stats().ProgressLate)
		require.EqualValues(t, 3, c.Stats().ProgressUnknown)
		require.NoError(t, c.Err())
	}
}

func TestX16OneCancelStopsNobodyElse(t *testing.T) {
	for _, when := range []string{"before the write", "in the middle of the wait", "at the answer"} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := connect(t, conn.Options{})
				ctx, cancel := context.WithCancel(background)
				var calls [100]<-chan reply
				for i := range calls {
					with := background
					if i == 50 {
						with = ctx
					}
					calls[i] = call(with, c, "m", "", conn.CallOptions{})
					if i == 0 {
						synctest.Wait() // its write blocks, the rest is queued
					}
				}
				synctest.Wait()
				if when == "before the write" {
					cancel()
					synctest.Wait()
				}
				var requests []message
				for len(requests) < 99 {
					requests = append(requests, p.read())
				}
				if when != "before the write" {
					requests = append(requests, p.read())
				}
				if when == "in the middle of the wait" {
					cancel()
					require.Equal(t, "notifications/cancelled", p.read().Method)
				}
				go func() {
					for range p.in.Size() {
						if _, err := p.in.ReadString('\n'); err != nil {
							return
						}
					}
				}()
				for i, m := range requests {
					if i == 50 && when == "at the answer" {
						go cancel()
					}
					p.result(m, "1")
				}
				for i, done := range calls {
					err := (<-done).err
					if i != 50 {
						require.NoError(t, err)
					} else if err != nil {
						require.ErrorIs(t, err, conn.ErrCancelled)
					}
				}
				cancel()
				require.NoError(t, c.Err())
			})
		})
	}
}

func TestX17InitializeIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		done := call(background, c, "initialize", `{}`, conn.CallOptions{Timeout: 20 * time.Millisecond})
		require.Equal(t, "initialize", p.read().Method)
		_, err := p.in.ReadString('\n')
		require.Error(t, err, "not a word more")
		require.ErrorIs(t, (<-done).err, conn.ErrTimeout)
		<-c.Done()
		require.ErrorIs(t, c.Err(), conn.ErrHandshake)
	})
}

func TestX18NextCallAfterACancelledOne(t *testing.T) {
	ours, theirs := newTape()
	c, err := conn.New(ours, conn.Options{})
	require.NoError(t, err)
	defer c.Close()
	go answerLines(theirs)
	n, resolved, sent := rounds(100_000), 0, 0
	for i := range n {
		ctx, cancel := context.WithCancel(background)
		if i%2 == 0 {
			cancel()
		} else {
			go cancel()
		}
		if _, err := c.Call(ctx, "A", nil, conn.CallOptions{}); err != nil {
			require.ErrorIs(t, err, conn.ErrCancelled)
			if was, _ := conn.Sent(err); was {
				sent++
			}
		} else {
			resolved++
		}
		result, err := c.Call(background, "B", []byte(`"b"`), conn.CallOptions{Timeout: time.Minute})
		require.NoError(t, err)
		require.Equal(t, `"b"`, string(result))
		cancel()
	}
	// The peer answers every request it sees, each before the B that follows it.
	stats := c.Stats().Calls
	require.EqualValues(t, n+resolved, stats.Resolved)
	require.LessOrEqual(t, stats.Cancelled, uint64(n-resolved), "some were over before they were registered")
	require.NotZero(t, stats.Late, "what was cancelled after it was sent is answered all the same")
	require.LessOrEqual(t, stats.Late, uint64(sent), "only what was sent")
	require.Zero(t, stats.Unknown)
	require.Zero(t, stats.Duplicate)
	require.Zero(t, stats.Pending)
}
