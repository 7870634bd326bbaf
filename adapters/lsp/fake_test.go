package lsp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/lsp"
)

// message is one of any kind.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// fake is a language server that knows the framing alone; a test says what it answers.
type fake struct {
	t      testing.TB
	stream io.ReadWriteCloser
	in     *textproto.Reader
	mu     sync.Mutex // held while a frame is written
}

func newFake(t testing.TB, stream io.ReadWriteCloser) *fake {
	return &fake{t: t, stream: stream, in: textproto.NewReader(bufio.NewReader(stream))}
}

// read is the next message; ok is false at the end of the stream.
func (f *fake) read() (m message, ok bool) {
	header, err := f.in.ReadMIMEHeader()
	if err != nil {
		return m, false
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		f.t.Error(err)
		return m, false
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(f.in.R, body); err != nil {
		return m, false
	}
	if err := json.Unmarshal(body, &m); err != nil {
		f.t.Errorf("%v: %s", err, body)
	}
	return m, true
}

// send writes one message, "jsonrpc" being put in.
func (f *fake) send(format string, args ...any) {
	body := `{"jsonrpc":"2.0",` + fmt.Sprintf(format, args...) + "}"
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = fmt.Fprintf(f.stream, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// answer gives m a result.
func (f *fake) answer(m message, result string) { f.send(`"id":%s,"result":%s`, m.ID, result) }

// refuse gives m an error.
func (f *fake) refuse(m message, code int, text string) {
	f.send(`"id":%s,"error":{"code":%d,"message":%q}`, m.ID, code, text)
}

// serve reads until the end. initialize, with the client's process id, and shutdown are answered and exit ends the
// stream; each gets the rest.
func (f *fake) serve(each func(m message)) {
	for {
		m, ok := f.read()
		switch {
		case !ok:
			return
		case m.Method == "initialize":
			var p struct{ ProcessID json.RawMessage }
			_ = json.Unmarshal(m.Params, &p)
			f.answer(m, fmt.Sprintf(`{"capabilities":{"hoverProvider":true},"client":%s}`, p.ProcessID))
		case m.Method == "initialized":
		case m.Method == "shutdown":
			f.answer(m, "null")
		case m.Method == "exit":
			_ = f.stream.Close()
		default:
			each(m)
		}
	}
}

// connect makes a client of a fake that serves in a goroutine of its own, which a
// bubble waits for.
func connect(t testing.TB, o lsp.Options, serve func(f *fake)) *lsp.Client {
	t.Helper()
	near, far := net.Pipe()
	f := newFake(t, far)
	go func() {
		defer far.Close()
		serve(f)
	}()
	c, err := lsp.New(near, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // of a test that failed: the others have shut down
	return c
}

// session is connect with an initialized session, whose end is the test's to make.
func session(t testing.TB, o lsp.Options, each func(f *fake, m message)) *lsp.Client {
	t.Helper()
	c := connect(t, o, func(f *fake) { f.serve(func(m message) { each(f, m) }) })
	result, err := c.Initialize(t.Context(), nil, lsp.CallOptions{})
	require.NoError(t, err)
	require.JSONEq(t, `{"capabilities":{"hoverProvider":true},"client":null}`, string(result))
	return c
}

// requestID is the id that a $/cancelRequest names.
func requestID(t testing.TB, m message) string {
	t.Helper()
	require.Equal(t, "$/cancelRequest", m.Method)
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	require.NoError(t, json.Unmarshal(m.Params, &p))
	return strings.TrimSpace(string(p.ID))
}

// quiet fails the test if it leaves goroutines behind. Call it first.
func quiet(t testing.TB) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
				return
			}
		}
	})
}
