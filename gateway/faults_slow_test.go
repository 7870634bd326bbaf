package gateway_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/link"
)

func progressAt(token string, n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, n)
}

// A flood of progress before the answer: while the client is behind only the last of
// each call is kept, the order stays, and nothing follows the answer.
func TestB11ProgressFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flood = 100_000
		g, server := start(t, shared())
		c, _ := join(g)
		for id := range 2 {
			require.NoError(t, c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":{"_meta":{"progressToken":"t%d"}}}`, id, id)))
		}
		w := server.Way(0)
		one, _ := w.NextRequest()
		two, _ := w.NextRequest()
		c.Queue(fake.Bound)
		for n := range flood {
			w.Say(progressAt(one, n))
			w.Say(progressAt(two, n))
		}
		require.Empty(t, c.Unread())
		w.Say(`{"jsonrpc":"2.0","id":` + one + `,"result":{}}`)
		require.Equal(t, []string{`{"jsonrpc":"2.0","id":0,"result":{}}`}, c.Unread())
		time.Sleep(time.Second)
		require.Empty(t, c.Unread(), "there is no room yet")
		c.Queue(0)
		time.Sleep(time.Second)
		require.Equal(t, []string{progressAt(`"t1"`, flood-1)}, c.Unread(), "the last one of the call that goes on")
		w.Say(progressAt(two, flood))
		w.Say(`{"jsonrpc":"2.0","id":` + two + `,"result":{}}`)
		require.Equal(t, []string{progressAt(`"t1"`, flood), `{"jsonrpc":"2.0","id":1,"result":{}}`}, c.Unread())
		s := g.Stats()
		require.EqualValues(t, 2*flood-1, s.Coalesced)
		require.EqualValues(t, 2, s.Answered)
		_ = g.Close()
		synctest.Wait()
	})
}

// One client that reads nothing holds up nobody else, and is let go of when it would
// lose an answer; or at once, if that is the policy.
func TestB05SlowClientAlone(t *testing.T) {
	for _, policy := range []gateway.Overflow{gateway.Coalesce, gateway.CloseSlow} {
		synctest.Test(t, func(t *testing.T) {
			server := &fake.Server{}
			u := shared()
			u.Name, u.Opener = "tools", server
			g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}, Overflow: policy})
			require.NoError(t, err)
			slow, _ := join(g)
			fast, _ := join(g)
			require.NoError(t, slow.Say(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1}}}`))
			w := server.Way(0)
			id, _ := w.NextRequest()
			slow.Fill(true)
			for n := range 10_000 {
				w.Say(progressAt(id, n))
				w.Say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				if n%100 == 0 {
					say(t, fast, "7", "m")
					_ = serveNext(w)
				}
			}
			answers := 0
			for _, frame := range fast.Unread() {
				if frame == `{"jsonrpc":"2.0","id":7,"result":{}}` {
					answers++
				}
			}
			require.Equal(t, 100, answers)
			if policy == gateway.CloseSlow {
				require.ErrorIs(t, slow.Ended(), link.ErrFull)
			} else {
				require.NoError(t, slow.Ended())
				w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
				require.ErrorIs(t, slow.Ended(), link.ErrFull)
			}
			synctest.Wait()
			require.Zero(t, g.Stats().InFlight)
			require.Equal(t, 1, g.Stats().Sessions)
			_ = g.Close()
			synctest.Wait()
		})
	}
}

// A client with very many calls goes: others hardly notice, all of it is cancelled, and
// nothing of it stays but the room of the tables, which do not shrink behind it only to
// grow again. How long others wait meanwhile is measured by internal/check.
func TestB10ManyCallsEnd(t *testing.T) {
	many, room := atSize(200_000), 128 // bytes of a call that is over
	u := shared()
	u.Limit.MaxInFlight = many + 1
	g, server := start(t, u)
	b, _ := join(g)
	say(t, b, `"first"`, "m")
	w := server.Way(0)
	_ = serveNext(w) // the way is open: as many as these may not wait for it
	_ = b.Next()
	base := residue.Measure()
	a, s := join(g)
	for n := range many {
		say(t, a, fmt.Sprint(n), "m")
	}
	for range many {
		_ = w.Next()
	}
	gone := make(chan struct{})
	go func() {
		s.Gone(errors.New("reset"))
		close(gone)
	}()
	for n := range 1000 {
		say(t, b, fmt.Sprint(n), "m")
		_ = serveNext(w)
		require.Contains(t, b.Next(), `"result"`)
	}
	<-gone
	require.Len(t, w.Cancels(), many)
	require.EqualValues(t, many, residue.Calls(t, g).Cancelled)
	w.Forget()
	b.Forget()
	base.Returns(t, int64(many*room))
}
