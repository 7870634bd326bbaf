package conn

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// collect drains a line as the writer does, until n nodes came.
func collect(l *line, n int) (calls []int64, sleeps int) {
	for len(calls) < n {
		first := l.take()
		if first == nil {
			l.sleep()
			if !l.empty() {
				l.awake()
				continue
			}
			sleeps++
			<-l.wake
			continue
		}
		for ; first != nil; first = first.next {
			calls = append(calls, first.call)
		}
	}
	return calls, sleeps
}

func TestLineKeepsTheOrderOfEachPusher(t *testing.T) {
	const pushers, each = 8, 5000
	l := newLine()
	var wg sync.WaitGroup
	for p := range pushers {
		wg.Go(func() {
			for i := range each {
				l.push(&node{call: int64(p*each + i)}, atOnce)
			}
		})
	}
	calls, _ := collect(l, pushers*each)
	wg.Wait()
	var next [pushers]int64
	for _, call := range calls {
		p := call / each
		require.Equal(t, next[p], call%each)
		next[p]++
	}
	require.Nil(t, l.take())
}

func TestLineWakesOncePerSleep(t *testing.T) {
	l := newLine()
	l.sleep()
	l.push(&node{call: 1}, atOnce)
	l.push(&node{call: 2}, atOnce)
	l.poke()
	require.Len(t, l.wake, 1)
	<-l.wake
	first := l.take()
	require.EqualValues(t, 1, first.call)
	require.EqualValues(t, 2, first.next.call)

	l.sleep()
	l.awake()
	require.Empty(t, l.wake)
	l.sleep()
	l.poke()
	l.poke()
	l.awake()
	require.Empty(t, l.wake, "awake consumed the wake-up that was on its way")
}

func TestLineCorkHoldsWaitingCallsBackOnly(t *testing.T) {
	l := newLine()
	l.cork(readerCork)
	l.sleep()
	l.push(&node{call: 1}, waiting)
	require.Empty(t, l.wake)
	l.nudge()
	require.Len(t, l.wake, 1)
	<-l.wake
	require.EqualValues(t, 1, l.take().call)

	l.sleep()
	l.nudge()
	require.Empty(t, l.wake, "there is nothing to do")
	l.push(&node{call: 2}, ofCall)
	l.push(&node{call: 3}, atOnce)
	require.Len(t, l.wake, 1, "other frames do not wait")
	<-l.wake
	require.EqualValues(t, 2, l.take().call)

	l.sleep()
	l.push(&node{call: 4}, waiting)
	l.uncork(readerCork)
	require.Len(t, l.wake, 1)
	<-l.wake
	l.take()
	l.sleep()
	l.push(&node{call: 5}, ofCall)
	require.Len(t, l.wake, 1)
}

func TestLineUncorkNeverLosesAWakeUp(t *testing.T) {
	const calls = 20000
	l := newLine()
	done := make(chan struct{})
	go func() {
		defer close(done)
		collect(l, calls)
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for n := range calls {
			l.push(&node{call: int64(n)}, waiting)
		}
	}()
	for running := true; running; {
		select {
		case <-over:
			running = false
		default:
		}
		l.cork(readerCork)
		l.uncork(readerCork)
	}
	<-done
}

func TestLinePokeNeverGetsLost(t *testing.T) {
	const pokes = 20000
	l := newLine()
	c := &cancels{line: l}
	got := make(chan int)
	go func() {
		n := 0
		for n < pokes {
			n += len(takeCancels(c))
			if n < pokes {
				l.sleep()
				if c.any() {
					l.awake()
					continue
				}
				<-l.wake
			}
		}
		got <- n
	}()
	for i := range pokes {
		c.add(int64(i), reasonTimeout)
	}
	require.Equal(t, pokes, <-got)
}

func takeCancels(c *cancels) []endedCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.ended
	c.ended = nil
	c.waiting.Store(0)
	return out
}
