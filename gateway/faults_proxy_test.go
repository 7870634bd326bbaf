package gateway_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/internal/invariants"
)

// atSize is the size that a fault was reported at, or a tenth of it where checks make it
// slow and nobody asked for all.
func atSize(n int) int {
	if (invariants.Race || invariants.Enabled) && os.Getenv("CORRELATOR_STRESS") != "full" {
		return n / 10
	}
	return n
}

func cancelOf(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

// Each way in which a client gives up reaches the server as one cancel of the right
// call, and leaves nothing behind.
func TestX02EveryEndIsCancelled(t *testing.T) {
	for name, end := range map[string]func(c interface{ Say(string) error }, s *gateway.Session, g *gateway.Gateway){
		"close": func(_ interface{ Say(string) error }, s *gateway.Session, _ *gateway.Gateway) {
			s.Gone(errors.New("reset"))
		},
		"notification": func(c interface{ Say(string) error }, _ *gateway.Session, _ *gateway.Gateway) {
			_ = c.Say(cancelOf(`"a"`))
		},
		"timeout": func(interface{ Say(string) error }, *gateway.Session, *gateway.Gateway) { time.Sleep(2 * time.Second) },
		"operator": func(_ interface{ Say(string) error }, s *gateway.Session, g *gateway.Gateway) {
			g.CancelCall(s.Number(), g.Slowest(1)[0].ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := shared()
				u.Timeout = time.Second
				g, server := start(t, u)
				other, _ := join(g)
				c, s := join(g)
				say(t, other, `"a"`, "endless")
				w := server.Way(0)
				_ = w.Next()
				time.Sleep(time.Millisecond)
				say(t, c, `"a"`, "slow")
				id, _ := w.NextRequest()
				if name == "operator" {
					require.NoError(t, other.Say(cancelOf(`"a"`)))
				}
				end(c, s, g)
				synctest.Wait()
				n := 0
				for _, cancel := range w.Cancels() {
					if cancel.Call == number(t, id) {
						n++
					}
				}
				require.Equal(t, 1, n)
				w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
				for _, frame := range c.Unread() {
					require.NotContains(t, frame, `"result"`)
				}
				_ = g.Close()
				synctest.Wait()
				require.Zero(t, g.Stats().InFlight)
			})
		})
	}
}

// A call that was cancelled is never answered, by an error neither.
func TestX06NothingAfterCancel(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	say(t, c, "5", "tools/call")
	w := server.Way(0)
	id, _ := w.NextRequest()
	require.NoError(t, c.Say(cancelOf("5")))
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32800,"message":"cancelled"}}`)
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.Empty(t, c.Unread())
	require.EqualValues(t, 2, g.Stats().Dropped[gateway.LateAnswer])
}

// One call of a hundred is cancelled: before it is sent, while it waits, as it is
// answered. The others are answered, over the same way.
func TestX16OneCancelOfMany(t *testing.T) {
	for _, when := range []string{"before", "waiting", "answered"} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, server := start(t, shared())
				opens := make(chan struct{})
				server.Fail = func(int) error { <-opens; return nil }
				c, _ := join(g)
				for n := range 100 {
					say(t, c, fmt.Sprint(n), "m")
				}
				if when == "before" {
					require.NoError(t, c.Say(cancelOf("50")))
				}
				close(opens)
				w := server.Way(0)
				synctest.Wait()
				if when == "waiting" {
					require.NoError(t, c.Say(cancelOf("50")))
				}
				answered := 0
				for n := range 100 {
					if n == 50 && when == "before" {
						continue
					}
					id, _ := w.NextRequest()
					if n == 50 && when == "answered" {
						var both sync.WaitGroup
						both.Go(func() { _ = c.Say(cancelOf("50")) })
						both.Go(func() { w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`) })
						both.Wait()
						continue
					}
					w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
				}
				for _, frame := range c.Unread() {
					require.Contains(t, frame, `"result"`)
					if !strings.Contains(frame, `"id":50,`) {
						answered++
					}
				}
				require.Equal(t, 99, answered)
				require.Equal(t, 1, server.Opened())
				s := g.Stats()
				require.EqualValues(t, 100, s.Answered+s.Cancelled)
				require.Zero(t, s.InFlight)
				_ = g.Close()
				synctest.Wait()
			})
		})
	}
}

// After a quick cancel the next call gets its answer, whatever the cancel met.
func TestX18NextCallAfterCancel(t *testing.T) {
	rounds := atSize(100_000)
	g, server := start(t, shared())
	c, _ := join(g)
	stop := make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() {
		w := server.WayOr(0, stop)
		for w != nil {
			frame, ok := w.NextOr(stop)
			if !ok {
				return
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(frame, `{"jsonrpc":"2.0","id":`), ",")
			w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		}
	})
	for range rounds {
		say(t, c, `"a"`, "m")
		_ = c.Say(cancelOf(`"a"`)) // it may come too late
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"b","method":"m"}`))
		for !strings.Contains(c.Next(), `"id":"b"`) {
		}
	}
	close(stop)
	serving.Wait()
	s := g.Stats()
	require.EqualValues(t, 2*rounds, s.Requests)
	require.EqualValues(t, 2*rounds, s.Answered+s.Cancelled)
}

// Both sides ask each other while their own requests wait: answers pass them.
func TestB01BothSidesAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := gateway.Upstream{Isolation: gateway.PerSession, Limit: limit.Options{MaxInFlight: 8}}
		g, server := start(t, u)
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}}`))
		synctest.Wait()
		require.Contains(t, c.Next(), `"id":"i"`)
		for n := range 20 {
			say(t, c, fmt.Sprint(n), "m")
		}
		w := server.Way(0)
		first, _ := w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":"ask","method":"roots/list"}`)
		synctest.Wait()
		asked := c.Next()
		require.Contains(t, asked, "roots/list")
		id, _, _ := strings.Cut(strings.TrimPrefix(asked, `{"jsonrpc":"2.0","id":`), ",")
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"result":{"roots":[]}}`))
		got := ""
		for range 8 {
			if got = w.Next(); strings.Contains(got, `"ask"`) {
				break
			}
		}
		require.Contains(t, got, `"id":"ask"`, "it passes the twelve requests that wait")
		w.Say(`{"jsonrpc":"2.0","id":` + first + `,"result":{}}`)
		require.Contains(t, c.Next(), `"result"`)
		_ = g.Close()
		synctest.Wait()
	})
}

// An id that is used again after a timeout gets its own answer; the late one is
// dropped.
func TestP01LateAnswerIsNobodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout, u.Limit.MaxInFlight = 10*time.Millisecond, 1
		g, server := start(t, u)
		a, _ := join(g)
		b, _ := join(g)
		say(t, a, "1", "m")
		w := server.Way(0)
		first, _ := w.NextRequest()
		time.Sleep(20 * time.Millisecond)
		require.Contains(t, a.Next(), "timed out")
		say(t, b, "1", "m")
		second, _ := w.NextRequest()
		require.NotEqual(t, first, second)
		w.Say(`{"jsonrpc":"2.0","id":` + first + `,"result":"A"}`)
		w.Say(`{"jsonrpc":"2.0","id":` + second + `,"result":"B"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"B"}`, b.Next())
		require.Empty(t, a.Unread())
		require.EqualValues(t, 1, g.Stats().Dropped[gateway.LateAnswer])
		_ = g.Close()
		synctest.Wait()
	})
}

// Nothing is left of calls that a silent server never answers; what comes too late, and
// what was never asked, are counted apart. The tables keep the room that the first wave
// took, which serves the second.
func TestP04NothingKeptAfterTimeout(t *testing.T) {
	calls, room := atSize(100_000), 128 // bytes of a call that is over
	u := shared()
	u.Timeout = time.Millisecond
	// A call whose time passes before it is written is never written. So the clock
	// stands still until the server has every one.
	clock := engine.NewManualClock()
	server := &fake.Server{}
	u.Name, u.Opener = "tools", server
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}, Clock: clock})
	require.NoError(t, err)
	over(t, g)
	c, _ := join(g)
	say(t, c, "0", "m") // what stays once and for all
	w := server.Way(0)
	_ = w.Next()
	clock.Advance(2 * time.Millisecond)
	require.Contains(t, c.Next(), "timed out")
	all := uint64(calls)
	wave := func(n uint64) {
		ids := make([]string, calls)
		for n := range calls {
			say(t, c, fmt.Sprint(n), "m")
		}
		for n := range calls {
			ids[n], _ = w.NextRequest()
		}
		clock.Advance(2 * time.Millisecond)
		for range calls {
			require.Contains(t, c.Next(), "timed out")
		}
		for n := range calls {
			w.Say(`{"jsonrpc":"2.0","id":` + ids[n] + `,"result":{}}`)
			w.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, int64(1)<<50+int64(n)))
		}
		require.Empty(t, c.Unread())
		w.Forget()
		c.Forget()
		s := residue.Calls(t, g)
		require.Equal(t, n*all+1, s.Expired)
		require.Equal(t, n*all, s.Dropped[gateway.LateAnswer])
		require.Equal(t, n*all, s.Dropped[gateway.UnknownAnswer])
	}
	base := residue.Measure()
	wave(1)
	base.Returns(t, int64(calls*room))
	first := residue.Measure()
	wave(2)
	first.Returns(t, 1<<20)
}

// A number that comes back as text is another id, and ends nothing.
func TestP07TextIsNoNumber(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	say(t, c, "0", "m")
	say(t, c, `"0"`, "m")
	w := server.Way(0)
	one, _ := w.NextRequest()
	two, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":"` + one + `","result":"text"}`)
	require.Empty(t, c.Unread())
	w.Say(`{"jsonrpc":"2.0","id":` + two + `,"result":2}`)
	w.Say(`{"jsonrpc":"2.0","id":` + one + `,"result":1}`)
	require.Equal(t, []string{`{"jsonrpc":"2.0","id":"0","result":2}`, `{"jsonrpc":"2.0","id":0,"result":1}`}, c.Unread())
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.UnknownAnswer], "nobody has had that id")
}
