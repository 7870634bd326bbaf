package fault_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/internal/invariants"
)

const patience = time.Minute

// stressFull is for the size that a fault was reported at where checks make it slow.
var stressFull = os.Getenv("CORRELATOR_STRESS") == "full"

// answer is an answer to m with its own params.
func answer(id, params []byte) []byte {
	return append(codec.AppendResult(nil, id, params), '\n')
}

// A server that answers twice, late, in another's name, with garbage, with errors, or
// never, and dies now and then; clients that cancel and vanish: no answer crosses, each
// call ends once, the counters add up, and nothing is left.
func TestStressUnruly(t *testing.T) {
	const clients, calls = 6, 400
	var sent atomic.Int64
	seen := make(map[string]int)
	var mu sync.Mutex // guards seen
	serve := func(c net.Conn) {
		var write sync.Mutex
		put := func(text []byte) {
			write.Lock()
			defer write.Unlock()
			_, _ = c.Write(text)
		}
		var earlier [][]byte
		lines(c, func(m *codec.Message) bool {
			if m.Kind != codec.KindRequest {
				return true
			}
			mu.Lock()
			seen[string(m.Params())]++
			mu.Unlock()
			id, params := append([]byte(nil), m.RawID()...), append([]byte(nil), m.Params()...)
			never := false
			switch n := sent.Add(1); n % 16 {
			case 0:
				put(append(answer(id, params), answer(id, params)...))
			case 1:
				never = true
			case 2:
				put([]byte("Server ready on port 80 {\n\x00\xff\n[[[[\n"))
				put(answer(id, params))
			case 3:
				put(answer([]byte(`"`+string(id)+`"`), []byte(`"wrong"`)))
				put(answer(id, params))
			case 4:
				put(answer([]byte(fmt.Sprint(1<<40+n)), []byte(`"wrong"`)))
				put(answer(id, params))
			case 5:
				if len(earlier) > 0 {
					put(answer(earlier[rand.IntN(len(earlier))], []byte(`"wrong"`))) // of a call that is over
				}
				put(answer(id, params))
			case 6:
				put(append(codec.AppendError(nil, id, &codec.Error{Code: 7, Message: string(params)}), '\n'))
			default:
				put(answer(id, params))
			}
			if !never {
				earlier = append(earlier, id)
			}
			return rand.IntN(500) > 0 // or dies
		})
	}
	b := lay(t, gateway.Upstream{Isolation: gateway.Shared, Timeout: 300 * time.Millisecond, BackoffMin: -1, BackoffStable: -1}, gateway.Options{}, downstream.Options{}, serve)
	var all, said sync.WaitGroup
	said.Add(clients)
	for n := range clients {
		c := b.dial(t)
		all.Go(func() {
			ended := make(map[string]int)
			done := make(chan struct{})
			go func() {
				defer close(done)
				lines(c, func(m *codec.Message) bool {
					id := string(m.RawID())
					if ended[id]++; ended[id] > 1 {
						t.Errorf("two answers to %s", id)
					}
					if want := fmt.Sprintf(`["%d/%s"]`, n, id); m.Kind == codec.KindResult && string(m.Result()) != want {
						t.Errorf("%s for %s", m.Result(), want)
					}
					return true
				})
			}()
			for k := range calls {
				_, _ = fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":["%d/%d"]}`+"\n", k, n, k)
				if k%20 == 19 {
					_, _ = fmt.Fprintf(c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", k-rand.IntN(20))
				}
			}
			said.Done()
			if n%3 == 0 {
				_ = c.Close() // it vanishes
			}
			<-done
		})
	}
	said.Wait()
	require.Eventually(t, func() bool {
		s := b.g.Stats()
		return s.Requests > clients*calls/2 && residue.AddsUp(s)
	}, patience, 10*time.Millisecond)
	require.NoError(t, b.g.Close())
	all.Wait()
	s := b.g.Stats()
	require.True(t, residue.AddsUp(s), "%+v", s)
	require.NotZero(t, s.Answered)
	require.NotZero(t, s.Failed)
	require.NotZero(t, s.Expired+s.Lost)
	require.Zero(t, s.Panics)
	mu.Lock()
	defer mu.Unlock()
	for params, n := range seen {
		require.Equal(t, 1, n, "%s was sent again", params)
	}
}

// A server that stops reading: its calls wait or expire, the gateway's memory is
// bounded, and when it reads again others are answered.
func TestServerStopsReading(t *testing.T) {
	hold := make(chan struct{})
	serve := func(c net.Conn) {
		<-hold
		lines(c, func(m *codec.Message) bool {
			if m.Kind != codec.KindRequest {
				return true
			}
			_, err := c.Write(answer(m.RawID(), []byte("true")))
			return err == nil
		})
	}
	b := lay(t, gateway.Upstream{Isolation: gateway.Shared, Timeout: patience}, gateway.Options{}, downstream.Options{}, serve)
	c := b.dial(t)
	const calls, size = 600, 64 << 10 // 38 MB, where 8 MiB wait to be written
	go func() {
		filler := strings.Repeat("x", size)
		for k := range calls {
			_, _ = fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%d,"method":"m","params":["%s"]}`+"\n", k, filler)
		}
	}()
	require.Eventually(t, func() bool { return b.g.Stats().Waiting > 100 }, patience, time.Millisecond)
	close(hold)
	got := 0
	require.NoError(t, c.SetReadDeadline(time.Now().Add(patience)))
	lines(c, func(m *codec.Message) bool {
		require.Equal(t, fmt.Sprint(got), string(m.RawID()), "in order")
		got++
		return got < calls
	})
	require.Equal(t, calls, got)
	residue.Calls(t, b.g)
}

// A client that stops reading is let go of when its bound is used up; others do not
// notice.
func TestClientStopsReading(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 64<<10)
	serve := func(c net.Conn) {
		lines(c, func(m *codec.Message) bool {
			if m.Kind != codec.KindRequest {
				return true
			}
			_, err := c.Write(answer(m.RawID(), append(append([]byte(`"`), big...), '"')))
			return err == nil
		})
	}
	b := lay(t, gateway.Upstream{Isolation: gateway.Shared}, gateway.Options{}, downstream.Options{Conn: conn.Options{WriteBuffer: 1 << 20, CloseTimeout: 10 * time.Millisecond}}, serve)
	slow := b.dial(t)
	fast, err := conn.Dial(t.Context(), "unix", b.clients, conn.Options{Profile: codec.JSONRPC})
	require.NoError(t, err)
	defer fast.Close()
	go func() {
		for k := 0; ; k++ {
			if _, err := fmt.Fprintf(slow, `{"jsonrpc":"2.0","id":%d,"method":"m"}`+"\n", k); err != nil {
				return
			}
		}
	}()
	for range 100 {
		got, err := fast.Call(t.Context(), "m", nil, conn.CallOptions{})
		require.NoError(t, err)
		require.Len(t, got, len(big)+2)
	}
	require.Eventually(t, func() bool { return b.g.Stats().Sessions == 1 }, patience, time.Millisecond)
	_, err = fast.Call(t.Context(), "m", nil, conn.CallOptions{})
	require.NoError(t, err)
	residue.Calls(t, b.g)
}

// A deadline that passes while a frame is half written does not reach the stream: what
// follows it is a whole frame, behind a whole frame.
func TestL11DeadlineInMidWrite(t *testing.T) {
	hold, got := make(chan struct{}), make(chan string, 16)
	serve := func(c net.Conn) {
		some := make([]byte, 10)
		_, _ = io.ReadFull(c, some)
		<-hold
		lines(io.MultiReader(bytes.NewReader(some), c), func(m *codec.Message) bool {
			got <- string(m.Method())
			if m.Kind == codec.KindRequest {
				_, _ = c.Write(answer(m.RawID(), []byte("true")))
			}
			return true
		})
	}
	b := lay(t, gateway.Upstream{Isolation: gateway.Shared, Methods: map[string]gateway.Deadlines{"a": {Total: 10 * time.Millisecond}}}, gateway.Options{}, downstream.Options{}, serve)
	c, err := conn.Dial(t.Context(), "unix", b.clients, conn.Options{Profile: codec.JSONRPC})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Call(t.Context(), "a", []byte(`["`+strings.Repeat("x", 1<<20)+`"]`), conn.CallOptions{})
	require.ErrorContains(t, err, "total deadline")
	answered := make(chan error, 1)
	go func() {
		_, err := c.Call(context.Background(), "b", nil, conn.CallOptions{})
		answered <- err
	}()
	close(hold)
	require.NoError(t, <-answered)
	require.Equal(t, "a", <-got)
	residue.Calls(t, b.g)
}

// Many clients write large frames, cancels and pings at once to a server that reads by 4 KiB:
// every line of it is whole, none is lost, and each client's order is kept.
func TestL12FramesDoNotMix(t *testing.T) {
	const clients = 8
	calls := 1000
	if (invariants.Race || invariants.Enabled) && !stressFull {
		calls = 100
	}
	var mu sync.Mutex // guards last and bad
	last, bad := map[string]int{}, 0
	serve := func(c net.Conn) {
		lines(&small{c}, func(m *codec.Message) bool {
			if m.Kind != codec.KindRequest {
				return true
			}
			if string(m.Method()) == "ping" { // the server speaks no MCP, so that it gets them, too
				_, err := c.Write(answer(m.RawID(), []byte("{}")))
				return err == nil
			}
			var who string
			var k int
			var filler string
			if n, err := fmt.Sscanf(strings.NewReplacer(`"`, " ", ",", " ", "[", " ", "]", " ").Replace(string(m.Params())), "%s %d %s", &who, &k, &filler); n != 3 || err != nil {
				mu.Lock()
				bad++
				mu.Unlock()
			}
			mu.Lock()
			if k < last[who] {
				bad++
			}
			last[who] = k + 1
			mu.Unlock()
			_, err := c.Write(answer(m.RawID(), []byte("true")))
			return err == nil
		})
	}
	// However long it takes, all is answered.
	u := gateway.Upstream{Isolation: gateway.Shared, Timeout: -1, Limit: limit.Options{QueueWait: -1}}
	b := lay(t, u, gateway.Options{}, downstream.Options{}, serve)
	var all sync.WaitGroup
	for n := range clients {
		c := b.dial(t)
		all.Go(func() {
			filler := strings.Repeat("x", 64<<10)
			go func() {
				for k := range calls {
					_, _ = fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%d,"method":"m","params":["c%d",%d,"%s"]}`+"\n", k, n, k, filler[:5<<10+rand.IntN(59<<10)])
					_, _ = fmt.Fprintf(c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", k+10_000)
					_, _ = fmt.Fprintf(c, `{"jsonrpc":"2.0","id":"p%d","method":"ping"}`+"\n", k)
				}
			}()
			got := 0
			lines(c, func(*codec.Message) bool {
				got++
				return got < 2*calls
			})
			if got != 2*calls {
				t.Errorf("client %d has %d answers", n, got)
			}
		})
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	require.Zero(t, bad)
	require.Len(t, last, clients)
	residue.Calls(t, b.g)
	require.EqualValues(t, 2*clients*calls, b.g.Stats().Answered)
}

// small reads at most 4 KiB at once.
type small struct{ io.Reader }

func (s *small) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), 4096)]) }
