package client_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/mcp"
)

const (
	hostileFrame = 256 << 10 // MaxFrame of the clients here
	hostileNotes = 100_000
	// hostileHeap is what one hostile answer may make a client allocate in all,
	// thrown away or not.
	hostileHeap = 32 * hostileFrame
)

// allocated is what f allocates, of which the servers' part is little.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// hijacked takes the connection of a request over, and writes to it without end
// until the client has gone.
func hijacked(w http.ResponseWriter, head, forever string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := io.WriteString(c, head); err != nil {
		return
	}
	for {
		if _, err := io.WriteString(c, forever); err != nil {
			return
		}
	}
}

func zipped(prefix string, zeros int) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, prefix)
	piece := bytes.Repeat([]byte("0"), 64<<10)
	for range zeros / len(piece) {
		_, _ = w.Write(piece)
	}
	_ = w.Close()
	return b.Bytes()
}

// Whatever an HTTP server answers, the call ends with an error, costs no more than
// the limits allow, and leaves nothing behind (which endpoint looks for).
func TestHostileHTTPAnswers(t *testing.T) {
	const bomb = 32 * hostileFrame
	events := zipped("data: ", bomb)
	object := zipped(`{"jsonrpc":"2.0","id":1,"result":"`, bomb)
	status := func(err error, code int) bool {
		failure, ok := errors.AsType[*client.HTTPError](err)
		return ok && failure.StatusCode == code && len(failure.Body) <= client.HTTPErrorBody
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	zip := func(kind string, code int, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(code)
			_, _ = w.Write(body)
		}
	}
	endless := func(head, forever string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { hijacked(w, head, forever) }
	}
	to := func(code int, where string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, where, code) }
	}
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	const ok, eventStream = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		timeout time.Duration
		is      func(error) bool
	}{
		{"header without end", endless(ok, "X-A: "+strings.Repeat("x", 1000)+"\r\n"), 0, func(err error) bool { return err != nil }},
		{"header line without end", endless(ok+"X-A: ", strings.Repeat("x", 1000)), 0, func(err error) bool { return err != nil }},
		{"early responses without end", endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"), 0, func(err error) bool { return err != nil }},
		{"body without end", endless(ok+"Content-Type: application/json\r\n\r\n", strings.Repeat(" ", 1000)), 0, is(conn.ErrInvalidAnswer)},
		{"event without end", endless(eventStream, "data: "+strings.Repeat("x", 1000)+"\n"), 0, is(client.ErrNoAnswer)},
		{"event line without end", endless(eventStream+"data: ", strings.Repeat("x", 1000)), 0, is(client.ErrNoAnswer)},
		{"event id without end", endless(eventStream+"id: ", strings.Repeat("x", 1000)), 0, is(client.ErrNoAnswer)},
		{"bomb of JSON", zip("application/json", 200, object), 0, is(conn.ErrInvalidAnswer)},
		{"bomb of events", zip("text/event-stream", 200, events), 0, is(client.ErrNoAnswer)},
		{"bomb in a refusal", zip("application/json", 500, object), 0, func(err error) bool { return status(err, 500) }},
		{"bomb of a kind that is not read", zip("text/html", 200, object), 0, is(conn.ErrInvalidAnswer)},
		{"gzip that is none", zip("application/json", 200, []byte("plain")), 0, is(client.ErrNoAnswer)},
		{"cut in the middle of a body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0",`)
		}, 0, is(client.ErrNoAnswer)},
		{"cut in the middle of an event", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, 0, is(client.ErrNoAnswer)},
		{"no byte at all", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 50 * time.Millisecond, is(conn.ErrTimeout)},
		{"comments for ever", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ": still there\n\n")
			}
		}, 50 * time.Millisecond, is(conn.ErrTimeout)},
		{"redirect to itself", to(http.StatusTemporaryRedirect, "/"), 0, func(err error) bool { return status(err, 307) }},
		{"redirect to another server", to(http.StatusTemporaryRedirect, other.URL), 0, func(err error) bool { return status(err, 307) }},
		{"redirect that makes a GET of it", to(http.StatusFound, "/other"), 0, func(err error) bool { return status(err, 302) }},
		{"redirect to nowhere", to(http.StatusTemporaryRedirect, "http://\x7f"), 0, func(err error) bool { return err != nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := endpoint(t, client.Options{Conn: conn.Options{MaxFrame: hostileFrame}}, func(w http.ResponseWriter, r *http.Request, m message) {
				if m.Method == "good" {
					answer(w, m, `{"good":1}`)
					return
				}
				c.answer(w, r)
			})
			var err error
			spent := allocated(func() { _, err = cl.Call(t.Context(), "own", nil, client.CallOptions{Timeout: c.timeout}) })
			require.Truef(t, c.is(err), "%v", err)
			if !invariants.Race {
				require.Less(t, spent, uint64(hostileHeap))
			}
			require.Zero(t, elsewhere.Load(), "what is for one server is for no other")
			text, err := cl.Call(t.Context(), "good", nil, client.CallOptions{})
			require.NoError(t, err)
			require.Equal(t, `{"good":1}`, string(text))
		})
	}
}

// A redirect within the origin that keeps the method is followed, with everything.
func TestHTTPRedirectWithinTheOrigin(t *testing.T) {
	c := endpoint(t, client.Options{}, func(w http.ResponseWriter, r *http.Request, m message) {
		if r.URL.Path != "/new" {
			http.Redirect(w, r, "/new", http.StatusPermanentRedirect)
			return
		}
		answer(w, m, fmt.Sprintf(`{"own":%q,"method":%q}`, r.Header.Get("X-Own"), r.Header.Get("Mcp-Method")))
	})
	text, err := c.Call(t.Context(), "moved", nil, client.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, `{"own":"yes","method":"moved"}`, string(text))
}

// A flood of notifications before the answer does not stop it, and is not kept.
func TestHostileNotifications(t *testing.T) {
	notes := make([]string, 0, hostileNotes+1)
	for i := range hostileNotes {
		switch i % 4 {
		case 0:
			notes = append(notes, `{"jsonrpc":"2.0","method":"notifications/own","params":{}}`)
		case 1:
			notes = append(notes, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
		case 2:
			notes = append(notes, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}`)
		default:
			notes = append(notes, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"none"}}}`)
		}
	}
	s := modern(func(m message) []string {
		if m.Method == "flood" {
			return append(append([]string(nil), notes...), `{"jsonrpc":"2.0","id":ID,"result":{"good":1}}`)
		}
		return []string{`{"jsonrpc":"2.0","id":ID,"result":{"good":1}}`}
	})
	var heard atomic.Int64
	o := client.Options{
		OnLog:          func(mcp.LogMessage) { heard.Add(1) },
		OnNotification: func(string, []byte) { heard.Add(1) },
	}
	scripted(t, s, o, func(t *testing.T, c *client.Client) {
		heard.Store(0)
		for _, method := range []string{"flood", "next"} {
			_, err := c.Call(t.Context(), method, nil, client.CallOptions{})
			require.NoError(t, err)
		}
		require.LessOrEqual(t, heard.Load(), int64(hostileNotes))
		require.Positive(t, heard.Load())
	})
}

// Frames that are too long, on a stream, cost the limit and no call but their own.
func TestHostileStream(t *testing.T) {
	long := strings.Repeat("x", 8*hostileFrame)
	for name, frames := range map[string][]string{
		"a line of rubbish":      {long},
		"a notification":         {`{"jsonrpc":"2.0","method":"notifications/own","params":{"a":"` + long + `"}}`},
		"an answer to nobody":    {`{"jsonrpc":"2.0","id":4242,"result":"` + long + `"}`},
		"many requests":          many(2000, `{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{}}`),
		"answers that none want": many(20_000, `{"jsonrpc":"2.0","id":"%d","result":{}}`),
		"cancels of nothing":     many(20_000, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`),
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			s := modern(func(m message) []string {
				switch {
				case m.Method == "":
					return nil
				case m.Method == "hostile":
					return append(append([]string(nil), frames...), `{"jsonrpc":"2.0","id":ID,"result":{"good":1}}`)
				}
				return []string{`{"jsonrpc":"2.0","id":ID,"result":{"good":1}}`}
			})
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				s.serve(buffered(far))
			}()
			c, err := client.Connect(t.Context(), client.Stream(near), client.Options{Eras: &client.Eras{}, Conn: conn.Options{MaxFrame: hostileFrame}})
			require.NoError(t, err)
			for _, method := range []string{"hostile", "next"} {
				text, err := c.Call(t.Context(), method, nil, client.CallOptions{})
				require.NoError(t, err)
				require.Equal(t, `{"good":1}`, string(text))
			}
			require.NoError(t, c.Close())
			_ = far.Close()
			<-gone
			noGoroutines(t)
		})
	}
}

func many(n int, format string) []string {
	frames := make([]string, n)
	for i := range frames {
		frames[i] = fmt.Sprintf(format, i)
	}
	return frames
}

// buffered reads ahead without bound, so that a peer which writes much is not what
// stops the client's own writes: a pipe has no room at all.
func buffered(c net.Conn) io.ReadWriter {
	r, w := io.Pipe()
	waiting := make(chan []byte, 1<<16)
	go func() {
		defer close(waiting)
		for {
			b := make([]byte, 4<<10)
			n, err := c.Read(b)
			if err != nil {
				return
			}
			waiting <- b[:n]
		}
	}()
	go func() {
		defer w.Close()
		for b := range waiting {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	}()
	return struct {
		io.Reader
		io.Writer
	}{r, c}
}
