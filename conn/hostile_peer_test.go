package conn_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// misdeeds are what a hostile peer does with a request. False ends its link.
var misdeeds = []struct {
	name string
	do   func(link io.Writer, id json.RawMessage) bool
}{
	{"answers", func(link io.Writer, id json.RawMessage) bool { return say(link, resultFor(id, "1")) }},
	{"answers twice", func(link io.Writer, id json.RawMessage) bool {
		return say(link, resultFor(id, "1"), resultFor(id, "2"), errorFor(id, `"3"`))
	}},
	{"answers what nobody asked", func(link io.Writer, id json.RawMessage) bool {
		return say(link, resultFor([]byte("123456789"), "0"), resultFor([]byte(`"x"`), "0"), resultFor([]byte("null"), "0"), resultFor(id, "1"))
	}},
	{"never answers", func(io.Writer, json.RawMessage) bool { return true }},
	{"floods", func(link io.Writer, id json.RawMessage) bool {
		for range 300 {
			if !say(link, `{"jsonrpc":"2.0","method":"noise"}`, progressFor(id, 1), `{"jsonrpc":"2.0","id":1,"method":"asks"}`) {
				return false
			}
		}
		return say(link, resultFor(id, "1"))
	}},
	{"talks rubbish", func(link io.Writer, id json.RawMessage) bool {
		return say(link, "Hello", "[", `{"jsonrpc":"2.0","id":`, "\xff", strings.Repeat("[", 5000), resultFor(id, "1"))
	}},
	{"dies inside a frame", func(link io.Writer, id json.RawMessage) bool {
		_, _ = io.WriteString(link, resultFor(id, "1")[:12])
		return false
	}},
	{"dies", func(io.Writer, json.RawMessage) bool { return false }},
}

func say(link io.Writer, lines ...string) bool {
	_, err := io.WriteString(link, strings.Join(lines, "\n")+"\n")
	return err == nil
}

// misbehave is such a peer. stops is after how many requests it reads no more.
func misbehave(link net.Conn, random *rand.Rand, stops int) {
	defer link.Close()
	in := bufio.NewReader(link)
	for n := 0; ; n++ {
		if n == stops {
			<-time.After(2 * time.Second)
			return
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal([]byte(line), &m) != nil || m.Method == "" || m.ID == nil {
			continue
		}
		if !misdeeds[random.IntN(len(misdeeds))].do(link, m.ID) {
			return
		}
	}
}

// Callers, handlers and callbacks of every kind against peers of every kind, over
// a Redialer that keeps dialling: each call ends once, in time, with its answer or
// an error that says why; nothing panics, hangs or is left.
func TestRedialerAgainstHostilePeers(t *testing.T) {
	for _, procs := range []int{1, 4} {
		before := runtime.GOMAXPROCS(procs)
		synctest.Test(t, func(t *testing.T) { againstHostilePeers(t, rand.Uint64()) })
		runtime.GOMAXPROCS(before)
	}
}

func againstHostilePeers(t *testing.T, seed uint64) {
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	handler := conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
		switch rand.IntN(8) {
		case 0:
			panic("a handler's")
		case 1:
			runtime.Goexit()
		case 2:
			_ = r.Conn().Close()
		case 3:
			_, _ = r.Conn().Call(ctx, "back", nil, conn.CallOptions{Timeout: time.Second})
		case 4:
			r.Detach()
			go func() { _ = r.ReplyError(&codec.Error{Code: 1}) }()
		default:
			_ = r.Reply(nil)
		}
	})
	var peers sync.WaitGroup
	defer peers.Wait()
	r, err := conn.NewRedialer(conn.RedialOptions{
		Dial: func(context.Context) (*conn.Conn, error) {
			if random.IntN(8) == 0 {
				return nil, errors.New("refused")
			}
			ours, theirs := net.Pipe()
			switch random.IntN(6) {
			case 0:
				_ = theirs.Close() // closes at once
			default:
				fate, stops := rand.New(rand.NewPCG(seed, random.Uint64())), random.IntN(40)
				peers.Go(func() { misbehave(theirs, fate, stops) })
			}
			return conn.New(ours, conn.Options{
				Handler: handler, MaxQueued: 16, MaxConcurrent: 4, WriteBuffer: 2 << 10, MaxPending: 8, Overflow: 1, CloseTimeout: 100 * time.Millisecond,
			})
		},
		Backoff: conn.Backoff{Min: time.Millisecond, Max: 10 * time.Millisecond}, Attempts: -1,
	})
	require.NoError(t, err)
	const callers, calls = 8, 100
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for n := range calls {
				o := conn.CallOptions{Timeout: 500 * time.Millisecond, NoCancel: n%5 == 0}
				if n%3 == 0 {
					o.Progress = func(conn.Progress) {
						if n%6 == 0 {
							panic("a callback's")
						}
					}
				}
				began := time.Now()
				value, err := r.Call(t.Context(), "m", []byte(`{"pad":"`+strings.Repeat("x", i*100)+`"}`), o)
				require.Less(t, time.Since(began), 2*time.Second)
				switch {
				case err == nil:
					require.Equal(t, "1", string(value))
				case errors.Is(err, conn.ErrTimeout), errors.Is(err, conn.ErrClosed), errors.Is(err, conn.ErrCancelled):
				default:
					t.Errorf("a call ended with %v", err)
				}
				if c := r.Conn(); c != nil && n%4 == 0 {
					ended := make(chan struct{})
					_, err := c.Start(t.Context(), "m", nil, conn.CallOptions{Timeout: time.Second, NoWait: true}, func(conn.Outcome) {
						close(ended)
						switch n % 20 {
						case 0:
							_ = c.Close()
						case 4:
							_, _ = c.Start(context.Background(), "m", nil, conn.CallOptions{NoWait: true}, nil)
						case 8:
							panic("a callback's")
						}
					})
					if err == nil {
						<-ended
					}
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, r.Close())
	<-r.Done()
}

// The same from a child process: hostile is one that picks a misdeed for each
// request.
func TestSpawnOfHostileChildren(t *testing.T) {
	nothingLeft(t)
	for _, procs := range []int{1, 4} {
		before := runtime.GOMAXPROCS(procs)
		for range 6 {
			command := part("hostile")
			command.Grace, command.TermGrace = 200*time.Millisecond, 200*time.Millisecond
			c, err := conn.Spawn(t.Context(), command, conn.Options{CloseTimeout: 100 * time.Millisecond, Handler: handler(func(r *conn.Inbound) { _ = r.Reply(nil) })})
			require.NoError(t, err)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 20 {
						value, err := c.Call(t.Context(), "m", nil, conn.CallOptions{Timeout: 50 * time.Millisecond})
						if err == nil {
							require.Equal(t, "1", string(value))
						} else if !errors.Is(err, conn.ErrTimeout) && !errors.Is(err, conn.ErrClosed) {
							t.Errorf("a call ended with %v", err)
						}
					}
				})
			}
			wg.Wait()
			require.NoError(t, c.Close())
			<-c.Done()
			require.Zero(t, c.Stats().Calls.Pending)
		}
		runtime.GOMAXPROCS(before)
	}
}
