package conn_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

var background = context.Background()

// peer is the other end of a connection under test, played by the test line by
// line over net.Pipe: nothing is buffered, so a peer that does not read blocks
// the writer at once.
type peer struct {
	t    testing.TB
	link net.Conn
	in   *bufio.Reader
}

// message is what a test reads of one line.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// connect makes a connection and its peer; both end with the test.
func connect(t testing.TB, o conn.Options) (*conn.Conn, *peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	c, err := conn.New(ours, o)
	require.NoError(t, err)
	p := &peer{t: t, link: theirs, in: bufio.NewReader(theirs)}
	t.Cleanup(func() {
		_ = theirs.Close()
		_ = c.Close()
		<-c.Done()
	})
	return c, p
}

// line reads one line, without its end.
func (p *peer) line() string {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	require.NoError(p.t, err)
	return strings.TrimSuffix(line, "\n")
}

// read reads one message.
func (p *peer) read() message {
	p.t.Helper()
	var m message
	line := p.line()
	require.NoError(p.t, json.Unmarshal([]byte(line), &m), line)
	return m
}

// send writes lines in one piece.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	_, err := io.WriteString(p.link, strings.Join(lines, "\n")+"\n")
	require.NoError(p.t, err)
}

// result writes a result for the request.
func (p *peer) result(m message, result string) { p.t.Helper(); p.send(resultFor(m.ID, result)) }

func resultFor(id json.RawMessage, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func errorFor(id json.RawMessage, e string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, id, e)
}

func progressFor(token json.RawMessage, value int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, value)
}

// answerAll answers each request with its params until the link ends, and
// passes over everything else.
func (p *peer) answerAll() {
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		if m.Params == nil {
			m.Params = json.RawMessage("null")
		}
		if _, err := io.WriteString(p.link, resultFor(m.ID, string(m.Params))+"\n"); err != nil {
			return
		}
	}
}

// reply is how a call in the background ended.
type reply struct {
	result string
	err    error
}

// call makes a call in the background.
func call(ctx context.Context, c *conn.Conn, method, params string, o conn.CallOptions) <-chan reply {
	done := make(chan reply, 1)
	go func() {
		var raw []byte
		if params != "" {
			raw = []byte(params)
		}
		result, err := c.Call(ctx, method, raw, o)
		done <- reply{string(result), err}
	}()
	return done
}

// requireWorks makes a call and answers it, which shows that the link is up.
func requireWorks(t testing.TB, c *conn.Conn, p *peer) {
	t.Helper()
	done := call(background, c, "works", "", conn.CallOptions{})
	m := p.read()
	require.Equal(t, "works", m.Method)
	p.result(m, `"yes"`)
	r := <-done
	require.NoError(t, r.err)
	require.Equal(t, `"yes"`, r.result)
}
