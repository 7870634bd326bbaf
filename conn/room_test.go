package conn

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func ready(w *roomWaiter) bool {
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

func TestRoomIsGivenInTurn(t *testing.T) {
	r := newRoom(100)
	require.True(t, r.try(60))
	require.False(t, r.try(41))
	require.True(t, r.try(40))

	first, second, third := r.enter(50), r.enter(10), r.enter(30)
	require.False(t, r.try(1), "who comes later waits too")
	r.release(40)
	require.False(t, ready(first), "40 are not 50")
	require.False(t, ready(second), "nobody overtakes")
	r.release(10)
	require.True(t, ready(first))
	require.False(t, ready(second))
	require.True(t, r.leave(first))
	r.release(40)
	require.True(t, ready(second))
	require.True(t, ready(third))
	require.EqualValues(t, 10+50+10+30, r.taken.Load())
	require.Zero(t, r.queue.Load())
}

func TestRoomLetsOneLargeFramePassAlone(t *testing.T) {
	r := newRoom(100)
	require.True(t, r.try(1000))
	require.False(t, r.try(1))
	w := r.enter(5000)
	r.release(1000)
	require.True(t, ready(w))
	require.EqualValues(t, 5000, r.taken.Load())
}

func TestRoomOfWhoLeavesGoesToTheNext(t *testing.T) {
	r := newRoom(100)
	require.True(t, r.try(90))
	big, small := r.enter(50), r.enter(10)
	require.False(t, ready(small))
	require.False(t, r.leave(big), "nothing was given")
	require.True(t, ready(small))
}

func TestRoomIsForcedToTwiceItsLimit(t *testing.T) {
	r := newRoom(100)
	require.True(t, r.try(100))
	require.True(t, r.force(100))
	require.False(t, r.force(1))
}

func TestRoomNeverExceedsItsLimitNorLosesAWakeUp(t *testing.T) {
	const limit, workers, rounds = 64, 16, 3000
	r := newRoom(limit)
	var inside, most atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			need := 1 + w*3
			for range rounds {
				if !r.try(need) {
					place := r.enter(need)
					<-place.ready
					r.leave(place)
				}
				now := inside.Add(int64(need))
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				inside.Add(-int64(need))
				r.release(need)
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, most.Load(), int64(limit))
	require.Zero(t, r.taken.Load())
	require.Zero(t, r.queue.Load())
}
