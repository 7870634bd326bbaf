package limit_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/limit"
)

// waiter notes what it is told.
type waiter struct {
	name    string
	log     *[]string
	waited  time.Duration
	again   time.Duration
	verdict limit.Verdict
	then    func()
}

func (w *waiter) Enter(waited time.Duration) {
	w.waited = waited
	*w.log = append(*w.log, w.name)
	if w.then != nil {
		w.then()
	}
}

func (w *waiter) Refuse(v limit.Verdict, again time.Duration) {
	w.verdict, w.again = v, again
	*w.log = append(*w.log, "-"+w.name)
}

func at(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// One client's hundred calls do not keep another one's waiting: clients go in turn,
// and the calls of each in order.
func TestGateIsFair(t *testing.T) {
	g := limit.New(limit.Options{MaxInFlight: 1})
	require.True(t, g.Try())
	require.False(t, g.Try())
	var log []string
	for _, name := range []string{"a1", "a2", "a3", "b1", "c1", "b2"} {
		client := limit.Client{Name: name[:1]}
		require.Equal(t, limit.Queued, g.Wait(new(limit.Ticket), client, &waiter{name: name, log: &log}, 0, 0))
	}
	for range 7 {
		g.Leave(at(time.Second))
	}
	require.Equal(t, []string{"a1", "b1", "c1", "a2", "b2", "a3"}, log)
	inFlight, waiting := g.Load()
	require.Zero(t, inFlight)
	require.Zero(t, waiting)
}

// Sessions of one client take turns among themselves, and have no more turns than it.
func TestGateIsFairToWhoHasOneSession(t *testing.T) {
	g := limit.New(limit.Options{MaxInFlight: 1, MaxQueuedClient: 6})
	require.True(t, g.Try())
	var log []string
	wait := func(name string, session uint64) limit.Verdict {
		return g.Wait(new(limit.Ticket), limit.Client{Name: name[:1], Number: session}, &waiter{name: name, log: &log}, 0, 0)
	}
	for _, name := range []string{"a1.1", "a1.2", "a2.1", "a3.1", "a2.2", "b9.1", "b9.2"} {
		require.Equal(t, limit.Queued, wait(name, uint64(name[1])))
	}
	require.Equal(t, limit.Queued, wait("a4.1", '4'))
	require.Equal(t, limit.RefusedFull, wait("a5.1", '5'), "one more session is no more room")
	for range 9 {
		g.Leave(at(time.Second))
	}
	require.Equal(t, []string{"a1.1", "b9.1", "a2.1", "b9.2", "a3.1", "a4.1", "a1.2", "a2.2"}, log)
	inFlight, waiting := g.Load()
	require.Zero(t, inFlight)
	require.Zero(t, waiting)
}

// Options that change while calls wait let in as many as there is room for now, and
// send nobody out.
func TestGateIsSet(t *testing.T) {
	g := limit.New(limit.Options{MaxInFlight: 1, MaxQueued: 3})
	require.True(t, g.Try())
	var log []string
	wait := func(name string) limit.Verdict {
		return g.Wait(new(limit.Ticket), limit.Client{Name: name}, &waiter{name: name, log: &log}, 0, 0)
	}
	for _, name := range []string{"a", "b", "c"} {
		require.Equal(t, limit.Queued, wait(name))
	}
	g.Set(limit.Options{MaxInFlight: 2, MaxQueued: 1}, at(0))
	require.Equal(t, []string{"a"}, log)
	require.Equal(t, limit.RefusedFull, wait("d"))
	g.Set(limit.Options{}, at(0))
	require.Equal(t, []string{"a", "b", "c"}, log)
	require.True(t, g.Try())
	g.Set(limit.Options{MaxInFlight: 1}, at(0))
	inFlight, _ := g.Load()
	require.Equal(t, 5, inFlight, "who is in stays")
	require.False(t, g.Try())
}

// Who leaves from within the callback that lets it in does not nest.
func TestGateDoesNotNest(t *testing.T) {
	g := limit.New(limit.Options{MaxInFlight: 1})
	require.True(t, g.Try())
	var log []string
	depth, deepest := 0, 0
	for range 1000 {
		w := &waiter{name: "x", log: &log}
		w.then = func() {
			depth++
			deepest = max(deepest, depth)
			g.Leave(at(0))
			depth--
		}
		require.Equal(t, limit.Queued, g.Wait(new(limit.Ticket), limit.Client{}, w, 0, 0))
	}
	g.Leave(at(0))
	require.Len(t, log, 1000)
	require.Equal(t, 1, deepest)
}

func TestGateBounds(t *testing.T) {
	var log []string
	wait := func(g *limit.Gate, client uint64) limit.Verdict {
		return g.Wait(new(limit.Ticket), limit.Client{Number: client}, &waiter{name: "w", log: &log}, 0, 0)
	}
	g := limit.New(limit.Options{MaxInFlight: 1, MaxQueued: 3, MaxQueuedClient: 2})
	require.True(t, g.Try())
	require.Equal(t, limit.Queued, wait(g, 1))
	require.Equal(t, limit.Queued, wait(g, 1))
	require.Equal(t, limit.RefusedFull, wait(g, 1), "the client's own share")
	require.Equal(t, limit.Queued, wait(g, 2))
	require.Equal(t, limit.RefusedFull, wait(g, 3), "the queue")
	held := func(client uint64) limit.Verdict {
		return g.Hold(new(limit.Ticket), limit.Client{Number: client}, &waiter{name: "h", log: &log}, 0, 0)
	}
	g = limit.New(limit.Options{MaxInFlight: 1, MaxQueued: 3, MaxQueuedClient: 2})
	require.True(t, g.Try())
	require.Equal(t, limit.Queued, held(1))
	require.Equal(t, limit.Queued, wait(g, 1))
	require.Equal(t, limit.RefusedFull, held(1), "what is held counts as well")
	require.Equal(t, limit.Queued, held(2))
	require.Equal(t, limit.RefusedFull, held(3))
	none := limit.New(limit.Options{MaxInFlight: 1, MaxQueued: -1})
	require.True(t, none.Try())
	require.Equal(t, limit.RefusedFull, wait(none, 1))
	none.Leave(at(0))
	require.Equal(t, limit.Admitted, wait(none, 1), "a place has come free meanwhile")
	open := limit.New(limit.Options{})
	for range 1000 {
		require.True(t, open.Try())
	}
}

func TestGateExpires(t *testing.T) {
	g := limit.New(limit.Options{MaxInFlight: 1, QueueWait: 10 * time.Second})
	require.True(t, g.Try())
	var log []string
	own, long, short := &waiter{name: "own", log: &log}, &waiter{name: "long", log: &log}, &waiter{name: "short", log: &log}
	var withdrawn limit.Ticket
	require.Equal(t, limit.Queued, g.Wait(new(limit.Ticket), limit.Client{Number: 1}, own, 0, 0))
	require.Equal(t, limit.Queued, g.Wait(new(limit.Ticket), limit.Client{Number: 2}, long, 0, -1))
	require.Equal(t, limit.Queued, g.Hold(new(limit.Ticket), limit.Client{Number: 3}, short, 0, time.Second))
	require.Equal(t, limit.Queued, g.Wait(&withdrawn, limit.Client{Number: 4}, &waiter{name: "never", log: &log}, 0, time.Second))
	require.True(t, g.Withdraw(&withdrawn))
	require.False(t, g.Withdraw(&withdrawn))
	next, ok := g.Next()
	require.True(t, ok)
	require.Equal(t, time.Second, next)
	next, ok = g.Expire(time.Second)
	require.True(t, ok)
	require.Equal(t, 10*time.Second, next)
	require.Equal(t, limit.RefusedLate, short.verdict)
	require.Positive(t, short.again)
	_, ok = g.Expire(time.Hour)
	require.False(t, ok, "one waits for ever")
	g.Leave(at(2 * time.Hour))
	require.Equal(t, []string{"-short", "-own", "long"}, log)
	require.Equal(t, 2*time.Hour, long.waited)
}

// The hint grows with the queue and with the time between two who leave.
func TestGateRetryAfter(t *testing.T) {
	g := limit.New(limit.Options{MaxInFlight: 1})
	require.Equal(t, time.Second, g.RetryAfter())
	require.True(t, g.Try())
	var log []string
	for range 60 {
		require.Equal(t, limit.Queued, g.Wait(new(limit.Ticket), limit.Client{}, &waiter{log: &log}, 0, 0))
	}
	for i := range 30 {
		g.Leave(at(time.Second + time.Duration(i)*100*time.Millisecond))
	}
	require.InDelta(t, 3*time.Second, g.RetryAfter(), float64(200*time.Millisecond))
}

// Whatever comes at once: nobody is told twice, nobody is forgotten, and never are
// more past the gate than may be.
func TestStressGate(t *testing.T) {
	const most, callers, calls = 3, 8, 2000
	g := limit.New(limit.Options{MaxInFlight: most, MaxQueued: 1 << 20, MaxQueuedClient: 1 << 20})
	var inside, entered, refused, withdrawn atomic.Int64
	var work, ends sync.WaitGroup
	leave := func() {
		inside.Add(-1)
		g.Leave(at(0))
		ends.Done()
	}
	enter := func() {
		if n := inside.Add(1); n > most {
			t.Errorf("%d are inside", n)
		}
		entered.Add(1)
		if rand.IntN(2) == 0 {
			leave()
			return
		}
		go leave()
	}
	for n := range callers {
		work.Go(func() {
			for range calls {
				ends.Add(1)
				if g.Try() {
					enter()
					continue
				}
				w := &teller{enter: enter, refuse: func() { refused.Add(1); ends.Done() }}
				ticket := new(limit.Ticket)
				switch v := g.Wait(ticket, limit.Client{Number: uint64(n)}, w, 0, 1); v {
				case limit.Admitted:
					enter()
				case limit.Queued:
					switch rand.IntN(3) {
					case 0:
						if g.Withdraw(ticket) {
							withdrawn.Add(1)
							ends.Done()
						}
					case 1:
						g.Expire(1)
					}
				default:
					t.Errorf("%v", v)
				}
			}
		})
	}
	work.Wait()
	ends.Wait()
	inFlight, waiting := g.Load()
	require.Zero(t, inFlight)
	require.Zero(t, waiting)
	require.EqualValues(t, callers*calls, entered.Load()+refused.Load()+withdrawn.Load())
}

type teller struct{ enter, refuse func() }

func (t *teller) Enter(time.Duration)                 { t.enter() }
func (t *teller) Refuse(limit.Verdict, time.Duration) { t.refuse() }

func TestRates(t *testing.T) {
	r := limit.NewRates(10, 2)
	a, b := limit.Client{Number: 1}, limit.Client{Name: "b"}
	for range 2 {
		ok, _ := r.Allow(a, 0)
		require.True(t, ok)
	}
	ok, again := r.Allow(a, 0)
	require.False(t, ok)
	require.Equal(t, 100*time.Millisecond, again)
	ok, _ = r.Allow(b, 0)
	require.True(t, ok, "another one's rate is its own")
	ok, _ = r.Allow(a, 100*time.Millisecond)
	require.True(t, ok, "asking too fast takes nothing away")
	ok, _ = r.Allow(a, 100*time.Millisecond)
	require.False(t, ok)
	ok, _ = r.Allow(a, time.Hour)
	require.True(t, ok)
	for range 3 {
		ok, _ = limit.NewRates(0, 5).Allow(a, 0)
		require.True(t, ok, "no bound")
	}
	ok, _ = (*limit.Rates)(nil).Allow(a, 0)
	require.True(t, ok)
}

// A client is who it is: more sessions, or more addresses of one identity, are not more
// calls a second.
func TestRatesGoByWhoItIs(t *testing.T) {
	r := limit.NewRates(1, 2)
	for n, want := range []bool{true, true, false, false} {
		ok, _ := r.Allow(limit.Client{Name: "a", Address: fmt.Sprint(n), Number: uint64(n)}, 0)
		require.Equal(t, want, ok, n)
	}
	for n, want := range []bool{true, true, false, false} {
		ok, _ := r.Allow(limit.Client{Address: "a", Number: uint64(n)}, 0)
		require.Equal(t, want, ok, "%d: an address is nobody's name", n)
	}
	for n := range 4 {
		ok, _ := r.Allow(limit.Client{Number: uint64(n)}, 0)
		require.True(t, ok, "nothing says that they are one")
	}
}

// What is set while clients go on counts for those that have used up what they had.
func TestRatesAreSet(t *testing.T) {
	r := limit.NewRates(1, 1)
	a := limit.Client{Name: "a"}
	allow := func(now time.Duration) bool {
		ok, _ := r.Allow(a, now)
		return ok
	}
	require.True(t, allow(0))
	require.False(t, allow(0))
	r.Set(10, 1, 0)
	require.False(t, allow(99*time.Millisecond))
	require.True(t, allow(101*time.Millisecond))
	r.Set(0, 0, 0)
	require.True(t, allow(101*time.Millisecond))
	require.True(t, allow(101*time.Millisecond))
	r.Set(1, 1, time.Second)
	require.True(t, allow(time.Second))
	require.False(t, allow(time.Second))
}

func TestBudget(t *testing.T) {
	b := limit.NewBudget(100)
	require.NoError(t, b.Charge(60))
	require.ErrorIs(t, b.Charge(41), limit.ErrBudget)
	require.NoError(t, b.Charge(40))
	b.Bound(10)
	require.NoError(t, b.Charge(-100), "giving back never fails")
	require.Zero(t, b.Used())
	b.Bound(0)
	require.NoError(t, b.Charge(1<<40))
}

func ExampleGate() {
	g := limit.New(limit.Options{MaxInFlight: 1})
	var told []string
	fmt.Println(g.Try(), g.Try())
	fmt.Println(g.Wait(new(limit.Ticket), limit.Client{Name: "a"}, &waiter{name: "a's second", log: &told}, 0, time.Second))
	fmt.Println(g.Wait(new(limit.Ticket), limit.Client{Name: "b"}, &waiter{name: "b's first", log: &told}, 0, time.Second))
	g.Leave(func() time.Duration { return 500 * time.Millisecond })
	g.Expire(2 * time.Second)
	fmt.Println(told)
	// Output:
	// true false
	// queued
	// queued
	// [a's second -b's first]
}
