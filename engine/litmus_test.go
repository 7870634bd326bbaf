package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A litmus is a race of two or three goroutines over and over. All the ways it may
// end are listed; any other is a failure, printed with how often each was seen.
type litmus struct {
	allowed []string
}

// stressFull asks for what takes minutes.
var stressFull = os.Getenv("CORRELATOR_STRESS") == "full"

// How long a litmus goes on: it is the rounds that count, but a busy machine does
// not spend minutes on them, nor hours when much was asked for.
const (
	litmusRounds   = 20_000
	litmusTime     = 150 * time.Millisecond
	litmusTimeFull = 5 * time.Second
)

// run races: setup prepares one round, whose racers then run at the same time, and
// verdict says in words how it ended.
func (l litmus) run(t *testing.T, setup func(n int) (racers []func(), verdict func() string)) {
	t.Helper()
	began, most := time.Now(), litmusTime
	if stressFull {
		most = litmusTimeFull
	}
	seed := rand.Uint64()
	gun := newGun(seed)
	defer gun.stop()
	seen := map[string]int{}
	for n := range litmusRounds {
		if n%16 == 15 && time.Since(began) > most {
			break
		}
		racers, verdict := setup(n)
		gun.fire(racers)
		v := verdict()
		seen[v]++
		if !slices.Contains(l.allowed, v) {
			t.Errorf("round %d of seed %d: %s", n, seed, v)
			break
		}
	}
	for _, v := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%8d  %s", seen[v], v)
	}
}

// gun starts racers together: each is seen to be on its feet before the shot, and
// then dawdles for a random while, so that every order gets its turn.
type gun struct {
	rng   *rand.Rand
	lanes []*lane
	shot  atomic.Uint32 // the last round that began
	wg    sync.WaitGroup
}

type lane struct {
	work   func()
	dawdle int
	called atomic.Uint32 // the last round that it was called to,
	ready  atomic.Uint32 // for which it stood ready,
	home   atomic.Uint32 // and that it has run
	_      [64]byte
}

func newGun(seed uint64) *gun { return &gun{rng: rand.New(rand.NewPCG(seed, 0))} }

// fire runs the racers, one of them on this goroutine: the one that it is has the
// better start, so it is another each time.
func (g *gun) fire(racers []func()) {
	for len(g.lanes) < len(racers)-1 {
		l := new(lane)
		l.home.Store(g.shot.Load())
		g.lanes = append(g.lanes, l)
		g.wg.Go(func() { l.serve(g, l.home.Load()) })
	}
	g.rng.Shuffle(len(racers), func(i, j int) { racers[i], racers[j] = racers[j], racers[i] })
	round := g.shot.Load() + 1
	for k, work := range racers[1:] {
		g.lanes[k].work, g.lanes[k].dawdle = work, g.rng.IntN(100)
		g.lanes[k].called.Store(round)
	}
	mine := g.rng.IntN(100)
	for k := range racers[1:] {
		until(&g.lanes[k].ready, round)
	}
	g.shot.Store(round)
	dawdle(mine)
	racers[0]()
	for k := range racers[1:] {
		until(&g.lanes[k].home, round)
	}
}

func (l *lane) serve(g *gun, round uint32) {
	for {
		round++
		until(&l.called, round)
		if l.work == nil {
			return
		}
		l.ready.Store(round)
		until(&g.shot, round)
		dawdle(l.dawdle)
		l.work()
		l.home.Store(round)
	}
}

func (g *gun) stop() {
	for _, l := range g.lanes {
		l.work = nil
		l.called.Store(g.shot.Load() + 1)
	}
	g.wg.Wait()
}

// until spins until a reaches n, and lets others run when that takes long.
func until(a *atomic.Uint32, n uint32) {
	for spins := 1; a.Load() != n; spins++ {
		if spins%1000 == 0 {
			runtime.Gosched()
		}
	}
}

// dawdled keeps the compiler from leaving the loop out.
var dawdled atomic.Uint32

func dawdle(n int) {
	for range n {
		dawdled.Load()
	}
}

// say makes a verdict of what happened.
func say(parts ...any) string { return fmt.Sprint(parts...) }
