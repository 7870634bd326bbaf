package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// A client that asks ten thousand times and reads nothing is stopped, costs no more
// than the limits, and gets every answer once it reads.
func TestHostileUnreadAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const asked = 10_000
		s := newServer(t, newTools(), serve.Options{WriteBuffer: 64 << 10, MaxLive: 64, WriteTimeout: -1})
		p := connect(t, s)
		text := strings.Repeat("x", 100)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for i := range asked {
				if _, err := fmt.Fprintln(p.conn, call(fmt.Sprint(i), "echo", fmt.Sprintf(`{"text":%q}`, text))); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		select {
		case <-sent:
			t.Fatal("all of it was taken")
		default:
		}
		stats := s.Stats()
		require.LessOrEqual(t, stats.Live, 64)
		require.LessOrEqual(t, stats.Handlers, 64)
		require.LessOrEqual(t, stats.Waiting, int64(2*(64<<10)+64*1000), "bytes that wait to be written")
		seen := make(map[string]bool, asked)
		for range asked {
			a := parse(t, p.receive())
			require.False(t, seen[string(a.ID)], "answered twice: %s", a.ID)
			seen[string(a.ID)] = true
			if a.Error != nil {
				require.Equal(t, -32603, a.Error.Code)
			}
		}
		<-sent
		require.Len(t, seen, asked)
		require.NoError(t, p.hangUp())
	})
}

// A peer that takes no byte is given up after WriteTimeout, and what it asked is
// cancelled.
func TestHostileStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := newServer(t, f, serve.Options{WriteTimeout: 10 * time.Second})
		p := connect(t, s)
		p.send(call("1", "wait", `{}`))
		<-f.entered
		began := time.Now()
		p.send(call("2", "echo", `{}`))
		require.ErrorIs(t, <-p.ended, serve.ErrStalled)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.ErrorIs(t, <-f.left, context.Canceled)
		_ = p.conn.Close()
	})
}

func TestHostileCancelStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := newServer(t, f, serve.Options{MaxLive: 32})
		p := connect(t, s)
		go func() {
			for f := range f.left {
				_ = f
			}
		}()
		go func() {
			for range f.entered {
			}
		}()
		answers := make(chan answer, 1024)
		go func() {
			defer close(answers)
			for p.lines.Scan() {
				answers <- parse(t, p.lines.Text())
			}
		}()
		for i := range 1000 {
			id := fmt.Sprint(i)
			p.send(call(id, "wait", `{}`), cancelled(id), cancelled(id), cancelled("999999"))
		}
		p.send(call(`"last"`, "echo", `{"text":"alive"}`))
		a := <-answers
		require.Equal(t, `"last"`, string(a.ID), "nothing that was cancelled is answered")
		synctest.Wait()
		require.Zero(t, s.Stats().Live)
		require.Zero(t, s.Stats().Handlers)
		require.NoError(t, p.hangUp())
		for range answers {
			t.Error("more came")
		}
		close(f.left)
		close(f.entered)
	})
}

// What is cancelled while it waits behind a slow handler leaves nothing behind.
func TestHostileCancelledInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{MaxHandlers: 1})
		defer r.conn.Close()
		r.send(call(`"slow"`, "stuck", `{}`))
		<-r.f.entered
		for i := range 3000 {
			r.send(call(fmt.Sprint(i), "echo", `{}`))
			if i%3 == 0 {
				r.send(call(`"x"`, "echo", `{}`))
				r.send(cancelled(`"x"`))
			}
			r.send(cancelled(fmt.Sprint(i)))
		}
		require.Zero(t, r.s.Stats().Queued)
		x := r.send(call("1", "echo", `{"text":"next"}`))
		require.Equal(t, 1, r.s.Stats().Queued)
		close(r.f.release)
		require.Equal(t, "next", parse(t, r.only(x)).text(t))
		require.Empty(t, r.f.entered)
	})
}

// Changes gather, each once, for a subscriber on a stream that is not read.
func TestHostileUnreadChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{WriteBuffer: 1 << 10, WriteTimeout: -1})
		p := connect(t, s)
		p.send(request(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		require.Contains(t, p.receive(), "acknowledged")
		for range 10_000 {
			s.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		}
		synctest.Wait()
		require.LessOrEqual(t, s.Stats().Waiting, int64(2<<10))
		p.send(call("1", "echo", `{"text":"now"}`))
		changes := 0
		for {
			line := p.receive()
			if strings.Contains(line, `"now"`) {
				break
			}
			require.Contains(t, line, "list_changed")
			changes++
		}
		require.Less(t, changes, 100)
		_ = p.hangUp() // more may be on its way
	})
}

// One more than MaxEvents different changes ends the connection.
func TestHostileSlowSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{WriteBuffer: 256, WriteTimeout: -1, MaxEvents: 2})
		p := connect(t, s)
		p.send(request(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a"]}`))
		require.Contains(t, p.receive(), "acknowledged")
		synctest.Wait()
		for range 10 {
			s.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		}
		s.Notify(mcp.Notification{Kind: mcp.ResourceUpdated, URI: "test://a"})
		synctest.Wait()
		require.Empty(t, p.ended)
		s.Notify(mcp.Notification{Kind: mcp.ResourcesChanged})
		require.ErrorIs(t, <-p.ended, serve.ErrSlowSubscriber)
		require.EqualValues(t, 1, s.Stats().Slow)
		_ = p.conn.Close()
	})
}

// Over HTTP a subscriber that does not read loses its stream and nothing else.
func TestHostileSlowSSE(t *testing.T) {
	overHTTP(t, serve.Options{WriteBuffer: 4 << 10, WriteTimeout: -1}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		slow := w.do(http.MethodPost, request(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`), modern("subscriptions/listen", "")...)
		synctest.Wait()
		for range 10_000 {
			w.server.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		}
		synctest.Wait()
		require.Zero(t, w.server.Stats().Live)
		require.Equal(t, "fine", parse(t, w.tool("1", "echo", `{"text":"fine"}`).all()).text(t))
		slow.drop()
	})
}

// A client that stalls in the middle of a body is dropped after ReadTimeout; one
// that stalls in the middle of a response after WriteTimeout.
func TestHostileHalfOpenHTTP(t *testing.T) {
	overHTTP(t, serve.Options{WriteTimeout: 5 * time.Second}, serve.HTTPOptions{ReadTimeout: 3 * time.Second, KeepAlive: time.Second}, func(w *web, f *tools) {
		began := time.Now()
		c, err := w.listen.dial(context.Background(), "", "")
		require.NoError(t, err)
		_, err = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 100\r\n\r\n{\"half\":")
		require.NoError(t, err)
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		require.Equal(t, 3*time.Second, time.Since(began))
		_ = c.Close()

		c, err = w.listen.dial(context.Background(), "", "")
		require.NoError(t, err)
		body := call("1", "wait", `{}`)
		_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: */*\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		require.NoError(t, err)
		<-f.entered
		require.ErrorIs(t, <-f.left, context.Canceled)
		_ = c.Close()
	})
}

// An answer that is not read holds its place for WriteTimeout; one that is read
// slowly is waited for.
func TestHostileUnreadJSON(t *testing.T) {
	overHTTP(t, serve.Options{MaxLive: 1, WriteTimeout: 5 * time.Second, MaxFrame: 4 << 20}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		big := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 3<<20))
		unread := w.tool("1", "echo", big)
		require.Equal(t, http.StatusOK, unread.StatusCode)
		pass(4 * time.Second)
		r := w.tool("2", "echo", `{}`)
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		_ = r.all()
		pass(2 * time.Second)
		slow := w.tool("3", "echo", big)
		require.Equal(t, http.StatusOK, slow.StatusCode, "the place is free")
		n := 0
		for buf := make([]byte, 200<<10); ; {
			k, err := io.ReadFull(slow.lines, buf)
			n += k
			if err != nil {
				break
			}
			pass(time.Second) // longer than WriteTimeout in all
		}
		require.Greater(t, n, 3<<20)
		unread.drop()
	})
}

// Bodies on their way in are bounded like what they bring.
func TestHostileManyBodies(t *testing.T) {
	overHTTP(t, serve.Options{MaxLive: 2}, serve.HTTPOptions{ReadTimeout: time.Minute}, func(w *web, _ *tools) {
		var open []net.Conn
		for range 2 {
			c, err := w.listen.dial(context.Background(), "", "")
			require.NoError(t, err)
			_, err = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 100\r\n\r\n{\"half\":")
			require.NoError(t, err)
			open = append(open, c)
		}
		synctest.Wait()
		r := w.tool("1", "echo", `{}`)
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		_ = r.all()
		for _, c := range open {
			_ = c.Close()
		}
		synctest.Wait()
		r = w.tool("1", "echo", `{}`)
		require.Equal(t, http.StatusOK, r.StatusCode)
		_ = r.all()
	})
}

// Sockets that say nothing, or half a line, hold nothing up and go with the server.
func TestHostileSilentPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{})
		l := newPipeListener()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Listen(ctx, l) }()
		var silent []net.Conn
		for i := range 100 {
			c, err := l.dial(ctx, "", "")
			require.NoError(t, err)
			if i%2 == 0 {
				_, err = io.WriteString(c, `{"jsonrpc":`)
				require.NoError(t, err)
			}
			silent = append(silent, c)
		}
		c, err := l.dial(ctx, "", "")
		require.NoError(t, err)
		go func() { _, _ = fmt.Fprintln(c, call("1", "echo", `{"text":"served"}`)) }()
		line, err := bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "served", parse(t, line).text(t))
		synctest.Wait()
		require.Equal(t, 101, s.Stats().Open)
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
		synctest.Wait()
		require.Zero(t, s.Stats().Open)
		for _, c := range silent {
			_ = c.Close()
		}
	})
}

// Connections above MaxConnections are closed at once.
func TestListenLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{MaxConnections: 1})
		l := newPipeListener()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Listen(ctx, l) }()
		first, err := l.dial(ctx, "", "")
		require.NoError(t, err)
		second, err := l.dial(ctx, "", "")
		require.NoError(t, err)
		_, err = second.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.EqualValues(t, 1, s.Stats().Refused)
		_ = first.Close()
		synctest.Wait()
		third, err := l.dial(ctx, "", "")
		require.NoError(t, err)
		go func() { _, _ = fmt.Fprintln(third, call("1", "echo", `{"text":"room"}`)) }()
		line, err := bufio.NewReader(third).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "room", parse(t, line).text(t))
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
}

// Whatever a client sends, the server neither panics nor hangs, what it writes is
// one JSON object a line, and nothing of it stays.
func FuzzServe(f *testing.F) {
	f.Add([]byte(call("1", "echo", `{"text":"a"}`) + "\n" + call("1", "panic", `{}`) + "\n"))
	f.Add([]byte(fmt.Sprintf(hello, "2025-03-26") + "\n[" + old("1", "echo", `{}`, "") + "," + cancelled("1") + "]\n"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\"\n\xff\xfe\n[]\n\n" + request("2", "subscriptions/listen", `"notifications":{}`)))
	f.Add([]byte(call("1", "progress", `{"n":3}`, `"progressToken":0`) + "\n" + cancelled("1") + "\n{"))
	f.Add([]byte(`{"method":"` + strings.Repeat("x", 5000) + `","id":1}` + "\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		synctest.Test(t, func(t *testing.T) { serveBytes(t, input) })
	})
}

// serveBytes serves a peer that sends input, in a bubble: what hangs, and a
// goroutine that stays, fail it.
func serveBytes(t *testing.T, input []byte) {
	tools := newTools()
	defer close(tools.release)
	s := newServer(t, tools, serve.Options{MaxFrame: 4096, DrainTimeout: 50 * time.Millisecond, Timeout: 20 * time.Millisecond, Grace: time.Millisecond})
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), half{ours, strings.NewReader(string(input))}) }()
	lines := bufio.NewScanner(theirs)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := lines.Bytes(); len(line) == 0 || line[0] != '{' && line[0] != '[' {
			t.Errorf("not a message: %q", line)
		}
	}
	if err := <-ended; err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// half reads from elsewhere.
type half struct {
	net.Conn
	from io.Reader
}

func (h half) Read(p []byte) (int, error) { return h.from.Read(p) }
