package gateway_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// Clients call, cancel and vanish, a server answers once, twice or never, and dies, all
// at once: no answer crosses, every call ends, and the counters add up.
func TestStressAccounts(t *testing.T) {
	u := shared()
	u.BackoffMin, u.BackoffStable = -1, -1
	g, server := start(t, u)
	const clients, calls, deaths = 8, 400, 5
	stop := make(chan struct{})
	var serving, calling sync.WaitGroup
	serving.Go(func() {
		for n := range deaths + 1 {
			w := server.WayOr(n, stop)
			if w == nil {
				return
			}
			for k := 0; n == deaths || k < clients*calls/deaths/3; k++ {
				frame, ok := w.NextOr(stop)
				if !ok {
					return
				}
				id, mark, _ := strings.Cut(strings.TrimPrefix(frame, `{"jsonrpc":"2.0","id":`), `,`)
				answer := `{"jsonrpc":"2.0","id":` + id + `,"result":{` + strings.TrimPrefix(mark, `"method":"m","params":{`) // it echoes the params
				for range rand.IntN(3) {
					serving.Go(func() { w.Say(answer) })
				}
				if rand.IntN(3) > 0 {
					w.Say(answer)
				}
			}
			w.Die(errors.New("killed"))
		}
	})
	all := make([]*fake.Client, clients)
	for n := range clients {
		c, s := join(g)
		all[n] = c
		calling.Go(func() {
			for k := range calls {
				if err := c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":{"owner":"%d/%d"}}`, k, n, k)); err != nil {
					t.Error(err)
				}
				if rand.IntN(4) == 0 {
					_ = c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, rand.IntN(k+1)))
				}
			}
			if n%2 == 0 {
				s.Gone(errors.New("vanished"))
			}
		})
	}
	calling.Wait()
	for g.Stats().Answered == 0 {
		runtime.Gosched()
	}
	require.NoError(t, g.Close())
	close(stop)
	serving.Wait()
	for n, c := range all {
		seen := map[string]bool{}
		for _, frame := range c.Unread() {
			id, rest, _ := strings.Cut(strings.TrimPrefix(frame, `{"jsonrpc":"2.0","id":`), `,`)
			require.False(t, seen[id], "two answers to %s", id)
			seen[id] = true
			if strings.HasPrefix(rest, `"result"`) {
				require.Equal(t, `"result":{"owner":"`+strconv.Itoa(n)+`/`+id+`"}}`, rest)
			}
		}
	}
	s := g.Stats()
	require.Zero(t, s.InFlight)
	require.EqualValues(t, clients*calls, s.Requests)
	require.Equal(t, s.Requests, s.Answered+s.Failed+s.Expired+s.Cancelled+s.Lost+s.Refused, "%+v", s)
	require.NotZero(t, s.Answered)
	require.NotZero(t, s.Cancelled)
	require.Zero(t, s.Panics)
}
