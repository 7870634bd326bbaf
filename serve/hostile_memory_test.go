package serve_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// attack is one way to cost a server much. begin returns when it is at its worst,
// with what ends it.
type attack struct {
	options serve.Options
	bound   int64 // of what it may cost, in bytes; it brings many times that
	begin   func(t *testing.T, f *tools, o serve.Options) (s *serve.Server, end func())
}

// However a client goes about it, its memory is bounded by the limits and not by
// what it sends, and nothing of it stays: a goroutine that does fails the bubble.
func TestHostileMemory(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	for name, a := range map[string]attack{
		"fuzzed lines":            {serve.Options{}, 3 * mib, fuzzedLines},
		"answers that are unread": {serve.Options{WriteBuffer: 64 * kib, MaxLive: 64}, mib, unreadAnswers},
		"a storm of cancels":      {serve.Options{MaxLive: 64}, 2 * mib, cancelStorm},
		"slow readers of SSE":     {serve.Options{WriteBuffer: 4 * kib}, 32 * 64 * kib, slowReaders},
		"half-open sockets":       {serve.Options{MaxFrame: 64 * kib}, 64 * 4 * 64 * kib, halfOpen},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTools()
				before := heap()
				s, end := a.begin(t, f, a.options)
				synctest.Wait()
				cost := heap() - before
				end()
				s.Close()
				synctest.Wait()
				require.LessOrEqual(t, cost, a.bound)
				require.Zero(t, s.Stats().Open)
				require.Zero(t, s.Stats().Handlers)
			})
		})
	}
}

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // pools keep what they hold for one more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// fuzzedLines sends 20,000 lines, most of them broken somewhere.
func fuzzedLines(t *testing.T, f *tools, o serve.Options) (*serve.Server, func()) {
	s := newServer(t, f, o)
	p := connect(t, s)
	go func() {
		for p.lines.Scan() {
		}
	}()
	random := rand.New(rand.NewPCG(5, 6))
	for i := range 20_000 {
		id := fmt.Sprint(i)
		line := []byte([]string{
			call(id, "echo", `{"text":"a"}`), cancelled(id), request(id, "server/discover", ""),
			"[" + old(id, "echo", `{}`, "") + "]", fmt.Sprintf(hello, "2025-03-26"),
		}[random.IntN(5)])
		for range random.IntN(3) {
			line[random.IntN(len(line))] = byte(random.IntN(256))
		}
		p.send(string(line))
	}
	return s, func() { _ = p.hangUp() }
}

// unreadAnswers asks 10,000 times and reads nothing.
func unreadAnswers(t *testing.T, f *tools, o serve.Options) (*serve.Server, func()) {
	s := newServer(t, f, o)
	p := connect(t, s)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		arguments := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1000))
		for i := range 10_000 {
			if _, err := io.WriteString(p.conn, call(fmt.Sprint(i), "echo", arguments)+"\n"); err != nil {
				return
			}
		}
	}()
	return s, func() {
		_ = p.conn.Close()
		<-sent
		<-p.ended
	}
}

// cancelStorm cancels each of 10,000 calls, several times.
func cancelStorm(t *testing.T, f *tools, o serve.Options) (*serve.Server, func()) {
	s := newServer(t, f, o)
	p := connect(t, s)
	go func() {
		for p.lines.Scan() {
		}
	}()
	go func() {
		for range f.entered {
		}
	}()
	go func() {
		for range f.left {
		}
	}()
	for i := range 10_000 {
		id := fmt.Sprint(i)
		p.send(call(id, "wait", `{}`), cancelled(id), cancelled(id), cancelled("-"+id))
	}
	return s, func() {
		_ = p.hangUp()
		synctest.Wait()
		close(f.entered)
		close(f.left)
	}
}

// slowReaders opens 32 subscriptions that hear 10,000 changes and are not read.
func slowReaders(t *testing.T, f *tools, o serve.Options) (*serve.Server, func()) {
	w := newWeb(t, f, o, serve.HTTPOptions{})
	var slow []*response
	for i := range 32 {
		slow = append(slow, w.do(http.MethodPost, request(fmt.Sprint(i), "subscriptions/listen", `"notifications":{"toolsListChanged":true}`),
			modern("subscriptions/listen", "")...))
	}
	for range 10_000 {
		w.server.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
	}
	return w.server, func() {
		for _, r := range slow {
			r.drop()
		}
		w.close()
	}
}

// halfOpen sends a line of a mebibyte on each of 64 sockets, and never its end.
func halfOpen(t *testing.T, f *tools, o serve.Options) (*serve.Server, func()) {
	s := newServer(t, f, o)
	l := newPipeListener()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Listen(ctx, l) }()
	piece := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 16<<10)
	var open []net.Conn
	for range 64 {
		c, err := l.dial(ctx, "", "")
		require.NoError(t, err)
		for range 64 {
			_, err = io.WriteString(c, piece)
			require.NoError(t, err)
		}
		open = append(open, c)
	}
	return s, func() {
		stop()
		<-ended
		for _, c := range open {
			_ = c.Close()
		}
	}
}
