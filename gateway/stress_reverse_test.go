package gateway_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// A shared server asks and logs while it works, always for the call that it works on,
// and clients call, cancel and go: whatever reaches a client is about a call of its own,
// and every question gets one answer.
func TestStressQuestions(t *testing.T) {
	for name, cancels := range map[string]bool{"answered": false, "cancelled": true} {
		t.Run(name, func(t *testing.T) { stressQuestions(t, cancels) })
	}
}

func stressQuestions(t *testing.T, cancels bool) {
	u := shared()
	u.DoubtAnswered = -1 // the server speaks of no call that it has answered
	g, server := start(t, u)
	const clients, calls = 6, 150
	stop := make(chan struct{})
	var serving, calling sync.WaitGroup
	asked, replied := 0, 0
	serving.Go(func() {
		w := server.WayOr(0, stop)
		for w != nil {
			frame, ok := w.NextOr(stop)
			if !ok {
				return
			}
			m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
			switch {
			case err != nil || m.Kind == codec.KindNotification:
				continue
			case m.Kind != codec.KindRequest:
				replied++
				continue
			}
			owner := string(m.Params())
			if rand.IntN(2) == 0 {
				asked++
				w.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":%s}`, asked, owner))
			}
			w.Say(`{"jsonrpc":"2.0","method":"notifications/message","params":` + owner + `}`)
			w.Say(string(codec.AppendResult(nil, m.RawID(), m.Params())))
		}
	})
	all := make([]*fake.Client, clients)
	for n := range clients {
		c, s := join(g)
		all[n] = c
		calling.Go(func() {
			for k := range calls {
				_ = c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":{"owner":"%d"}}`, k, n))
				if cancels && rand.IntN(8) == 0 {
					_ = c.Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, rand.IntN(k+1)))
				}
				for _, frame := range c.Unread() {
					mine(t, frame, n)
					if m, err := codec.Parse([]byte(frame), codec.ScanOptions{}); err == nil && m.Kind == codec.KindRequest {
						_ = c.Say(string(codec.AppendResult(nil, m.RawID(), []byte(`{}`))))
					}
				}
			}
			if n%2 == 0 {
				s.Gone(errors.New("vanished"))
			}
		})
	}
	calling.Wait()
	for g.Stats().InFlight > 0 {
		runtime.Gosched()
	}
	require.NoError(t, g.Close())
	close(stop)
	serving.Wait()
	for n, c := range all {
		for _, frame := range c.Unread() {
			mine(t, frame, n)
		}
	}
	s := g.Stats()
	require.Zero(t, s.InFlight)
	require.Equal(t, s.Requests, s.Answered+s.Failed+s.Expired+s.Cancelled+s.Lost+s.Refused, "%+v", s)
	require.NotZero(t, s.Answered)
	require.NotZero(t, asked)
	require.LessOrEqual(t, replied, asked)
	require.LessOrEqual(t, int(s.Dropped[gateway.UnownedAsk]), asked)
	require.Zero(t, s.Panics)
}

// mine checks that a frame is about the client's own.
func mine(t *testing.T, frame string, n int) {
	t.Helper()
	if strings.Contains(frame, `"owner"`) && !strings.Contains(frame, fmt.Sprintf(`"owner":"%d"`, n)) {
		t.Errorf("client %d got %s", n, frame)
	}
}
