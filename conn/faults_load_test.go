package conn_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

func TestB01BothQueuesFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{MaxConcurrent: 1, MaxQueued: 7, Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
			result, err := r.Conn().Call(ctx, "back", nil, conn.CallOptions{})
			require.NoError(t, err)
			_ = r.Reply(result)
		})})
		// The peer reads all the while, and answers only after its 20th request.
		type line struct {
			m   message
			raw string
		}
		lines := make(chan line, 64)
		go func() {
			for {
				raw, err := p.in.ReadString('\n')
				if err != nil {
					return
				}
				var m message
				_ = json.Unmarshal([]byte(raw), &m)
				lines <- line{m, raw}
			}
		}()
		for i := range 20 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i))
		}
		refused, served := 0, 0
		for refused+served < 20 {
			l := <-lines
			switch {
			case l.m.Method == "back":
				p.result(l.m, `"now"`)
			case l.m.Error != nil:
				require.Equal(t, codec.CodeInternal, l.m.Error.Code)
				refused++
			default:
				require.Equal(t, `"now"`, string(l.m.Result))
				served++
			}
		}
		require.Equal(t, 8, served)
		require.EqualValues(t, 12, c.Stats().Overloaded)
	})
}

func TestB02DeadlineHoldsWhenTheQueueIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{WriteBuffer: 600}) // four requests
		for range 4 {
			_, err := c.Start(background, "m", nil, conn.CallOptions{}, nil)
			require.NoError(t, err)
		}
		_, err := c.Start(background, "m", nil, conn.CallOptions{}, nil)
		require.ErrorIs(t, err, conn.ErrFull, "Start does not wait")
		require.ErrorContains(t, err, "no room in the write buffer", "which of the bounds it is")
		require.ErrorIs(t, c.TryNotify("m", nil), conn.ErrFull)

		start := time.Now()
		byOption := call(background, c, "fifth", "", conn.CallOptions{Timeout: 10 * time.Millisecond})
		ctx, cancel := context.WithTimeout(background, 10*time.Millisecond)
		defer cancel()
		byContext := call(ctx, c, "fifth", "", conn.CallOptions{})
		synctest.Wait()
		require.Equal(t, 2, c.Stats().QueueWaiters)
		require.Positive(t, c.Stats().QueuedBytes)
		for _, done := range []<-chan reply{byOption, byContext} {
			err := (<-done).err
			require.ErrorIs(t, err, conn.ErrTimeout)
			sent, known := conn.Sent(err)
			require.True(t, known && !sent)
		}
		require.InDelta(t, 10, time.Since(start).Milliseconds(), 1)
		require.ErrorIs(t, c.Notify(ctx, "m", nil), context.DeadlineExceeded)

		for range 4 {
			require.Equal(t, "m", p.read().Method)
		}
		requireWorks(t, c, p) // nothing of the fifth came
		require.Zero(t, c.Stats().QueueWaiters)
		require.Zero(t, c.Stats().QueuedBytes)
	})
}

func TestB02FrameAboveTheBoundPassesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{WriteBuffer: 1000})
		small := call(background, c, "small", "", conn.CallOptions{})
		big := call(background, c, "big", `"`+strings.Repeat("x", 10_000)+`"`, conn.CallOptions{})
		synctest.Wait()
		require.Equal(t, 1, c.Stats().QueueWaiters)
		go p.answerAll()
		require.NoError(t, (<-small).err)
		require.NoError(t, (<-big).err)
	})
}

func TestB05SlowSubscriberIsAlone(t *testing.T) {
	const notes = 10_000
	for _, policy := range []conn.SlowPolicy{conn.SlowDropOldest, conn.SlowDropNewest, conn.SlowEnd} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			c, p := connect(t, conn.Options{})
			release, inHand := make(chan struct{}), make(chan struct{}, notes)
			var a, b []string
			listen := func(f func(conn.Notification), o conn.CallOptions) (codec.ID, <-chan conn.Outcome) {
				ended := make(chan conn.Outcome, 1)
				o.Timeout, o.Subscription = conn.NoTimeout, f
				id, err := c.Start(background, "subscriptions/listen", []byte(`{}`), o, func(o conn.Outcome) { ended <- o })
				require.NoError(t, err)
				p.read()
				return id, ended
			}
			slow, slowEnded := listen(func(n conn.Notification) {
				inHand <- struct{}{}
				<-release
				a = append(a, string(n.Params))
			}, conn.CallOptions{SubscriptionBuffer: 16, Slow: policy})
			fast, fastEnded := listen(func(n conn.Notification) { b = append(b, string(n.Params)) }, conn.CallOptions{SubscriptionBuffer: notes})
			note := func(id codec.ID, i int) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"i":%d}}`, id, i)
			}
			p.send(note(slow, 0), note(fast, 0))
			<-inHand // of what follows, the buffer alone decides
			var lines []string
			for i := 1; i < notes; i++ {
				lines = append(lines, note(slow, i), note(fast, i))
			}
			p.send(lines...)
			if policy == conn.SlowEnd {
				require.Equal(t, "notifications/cancelled", p.read().Method)
			}
			requireWorks(t, c, p)
			p.send(resultFor([]byte(fast.String()), "{}"))
			require.NoError(t, (<-fastEnded).Err)
			require.Len(t, b, notes)
			for i, params := range b {
				require.Contains(t, params, fmt.Sprintf(`"i":%d}`, i))
			}
			close(release)
			if policy == conn.SlowEnd {
				require.ErrorIs(t, (<-slowEnded).Err, conn.ErrSlowSubscriber)
				require.LessOrEqual(t, len(a), 17)
				return
			}
			require.True(t, c.Cancel(slow, nil), "unsubscribing works")
			require.ErrorIs(t, (<-slowEnded).Err, conn.ErrCancelled)
			require.Len(t, a, 17, "one in hand and the buffer")
			for i, params := range a {
				switch {
				case policy == conn.SlowDropOldest && i > 0: // the last that came
					require.Contains(t, params, fmt.Sprintf(`"i":%d}`, notes-17+i))
				case policy == conn.SlowDropNewest: // the first that came
					require.Contains(t, params, fmt.Sprintf(`"i":%d}`, i))
				}
			}
			require.EqualValues(t, notes-17, c.Stats().NotesDropped)
		})
	}
}

func TestB06SlowHandlerHoldsNothingUp(t *testing.T) {
	running, ended := make(chan struct{}), make(chan error, 1)
	_, p := connect(t, conn.Options{MaxConcurrent: 1, Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
		close(running)
		<-ctx.Done()
		ended <- ctx.Err()
		require.ErrorIs(t, r.Reply([]byte("1")), conn.ErrAnswered)
	})})
	p.send(`{"jsonrpc":"2.0","id":"s","method":"slow"}`)
	<-running
	p.send(
		`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`,
	)
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, p.line())
	require.ErrorIs(t, <-ended, context.Canceled)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":{}}`, p.line(), "and nothing for the cancelled one")
}

// The same in one write, so that the cancel may come before the handler has begun:
// whether it begins at all or not, what it is given has been cancelled.
func TestB06SlowPingAndCancelAtOnce(t *testing.T) {
	for range 200 {
		ours, theirs := newTape()
		c, err := conn.New(ours, conn.Options{MaxConcurrent: 1, Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
			<-ctx.Done()
			assert.ErrorIs(t, r.Reply([]byte("1")), conn.ErrAnswered)
		})})
		require.NoError(t, err)
		p := &peer{t: t, in: theirs.lines()}
		theirs.say(`{"jsonrpc":"2.0","id":"s","method":"slow"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, p.line())
		theirs.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":{}}`, p.line(), "and nothing for the cancelled one")
		require.EqualValues(t, 1, c.Stats().CancelsIn)
		require.Zero(t, c.Stats().CancelsUnknown)
		require.NoError(t, c.Close())
		<-c.Done()
	}
}

func TestB11ProgressFloodBeforeTheAnswer(t *testing.T) {
	const notes = 100_000
	for _, blocking := range []bool{true, false} {
		t.Run(fmt.Sprintf("blocking=%v", blocking), func(t *testing.T) {
			ours, theirs := newTape()
			c, err := conn.New(ours, conn.Options{})
			require.NoError(t, err)
			defer c.Close()
			p := &peer{t: t, in: theirs.lines()}
			gate := make(chan struct{})
			var seen []float64
			var once sync.Once
			o := conn.CallOptions{Progress: func(x conn.Progress) {
				r, err := x.Report()
				require.NoError(t, err)
				seen = append(seen, r.Progress)
				once.Do(func() { <-gate }) // a slow handler
			}}
			var done <-chan reply
			if blocking {
				done = call(background, c, "m", "", o)
			} else {
				ended := make(chan reply, 1)
				_, err := c.Start(background, "m", nil, o, func(o conn.Outcome) { ended <- reply{string(o.Value), o.Err} })
				require.NoError(t, err)
				done = ended
			}
			m := p.read()
			require.JSONEq(t, `{"_meta":{"progressToken":`+string(m.ID)+`}}`, string(m.Params))
			var flood strings.Builder
			for i := range notes {
				flood.WriteString(progressFor(m.ID, i+1) + "\n")
			}
			flood.WriteString(resultFor(m.ID, `"end"`) + "\n")
			flood.WriteString(progressFor(m.ID, notes+1))
			theirs.say(flood.String())
			theirs.say(`{"jsonrpc":"2.0","id":"x","method":"ping"}`)
			require.Equal(t, `"x"`, string(p.read().ID), "the reader was not held up")
			close(gate)
			require.Equal(t, reply{`"end"`, nil}, <-done)
			require.IsIncreasing(t, seen)
			require.EqualValues(t, notes, seen[len(seen)-1], "the last one before the answer, and none after")
			s := c.Stats()
			require.EqualValues(t, len(seen), s.ProgressDelivered)
			require.EqualValues(t, notes, s.ProgressDelivered+s.ProgressCoalesced)
			require.EqualValues(t, 1, s.ProgressLate)
		})
	}
}

func TestOverflowWaitNeverDeadlocks(t *testing.T) {
	// A table full of calls that wait for room, and room full of calls that wait
	// for the table, would stand still.
	ours, theirs := newTape()
	c, err := conn.New(ours, conn.Options{MaxPending: 8, Overflow: engine.OverflowWait, WriteBuffer: 500})
	require.NoError(t, err)
	defer c.Close()
	p := &peer{t: t, in: theirs.lines()}
	go func() {
		for {
			line, err := p.in.ReadString('\n')
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal([]byte(line), &m) == nil && m.ID != nil {
				theirs.say(resultFor(m.ID, "1"))
			}
		}
	}()
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for i := range 200 {
				switch (w + i) % 3 {
				case 0:
					_, err := c.Call(background, "m", []byte(`{"pad":"................................"}`), conn.CallOptions{})
					require.NoError(t, err)
				case 1:
					done := make(chan error, 1)
					_, err := c.Start(background, "m", nil, conn.CallOptions{}, func(o conn.Outcome) { done <- o.Err })
					require.NoError(t, err)
					require.NoError(t, <-done)
				case 2:
					done := make(chan error, 3)
					request := conn.Request{Method: "m", Notify: func(o conn.Outcome) { done <- o.Err }}
					n, err := c.Submit(background, []conn.Request{request, request, request})
					require.NoError(t, err)
					for range n {
						require.NoError(t, <-done)
					}
				}
			}
		})
	}
	wg.Wait()
}

// What was queued before Close is on the wire before the stream is closed, however
// soon Close comes and however slowly the peer reads.
func TestB12NothingQueuedIsLostAtClose(t *testing.T) {
	for _, pipe := range []bool{false, true} {
		for _, frames := range []int{1, 3, 1000} {
			var ours, theirs net.Conn
			if pipe {
				ours, theirs = net.Pipe()
			} else {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				ours, err = net.Dial("tcp", l.Addr().String())
				require.NoError(t, err)
				theirs, err = l.Accept()
				require.NoError(t, err)
				require.NoError(t, l.Close())
			}
			c, err := conn.New(ours, conn.Options{CloseTimeout: time.Minute})
			require.NoError(t, err)
			for range frames {
				require.NoError(t, c.Notify(background, "note", []byte(`{"pad":"0123456789"}`)))
			}
			closed := make(chan error, 1)
			go func() { closed <- c.Close() }()
			in := bufio.NewReaderSize(theirs, 16) // reads in small pieces
			for range frames {
				line, err := in.ReadString('\n')
				require.NoError(t, err)
				require.Equal(t, `{"jsonrpc":"2.0","method":"note","params":{"pad":"0123456789"}}`+"\n", line)
			}
			_, err = in.ReadByte()
			require.ErrorIs(t, err, io.EOF)
			_ = theirs.Close()
			require.NoError(t, <-closed)
			<-c.Done()
			require.EqualValues(t, frames, c.Stats().FramesOut)
		}
	}
}
