//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/auth"
)

// byHand is a server that the test itself plays, a line at a time.
type byHand struct {
	t       *testing.T
	l       net.Listener
	c       net.Conn
	lines   *bufio.Reader
	address string
}

func serveByHand(t *testing.T, dir, name string) *byHand {
	t.Helper()
	s := &byHand{t: t, address: "unix:" + filepath.Join(dir, name)}
	var err error
	s.l, err = net.Listen("unix", filepath.Join(dir, name))
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.l.Close() })
	return s
}

// next is the id of the next request.
func (s *byHand) next() string {
	s.t.Helper()
	var err error
	if s.c == nil {
		s.c, err = s.l.Accept()
		require.NoError(s.t, err)
		s.t.Cleanup(func() { _ = s.c.Close() })
		s.lines = bufio.NewReader(s.c)
	}
	require.NoError(s.t, s.c.SetReadDeadline(time.Now().Add(time.Minute)))
	line, err := s.lines.ReadString('\n')
	require.NoError(s.t, err)
	_, id, found := strings.Cut(line, `"id":`)
	require.True(s.t, found, line)
	return id[:strings.IndexAny(id, ",}")]
}

func (s *byHand) answer(id, result string) {
	s.t.Helper()
	_, err := fmt.Fprintf(s.c, `{"jsonrpc":"2.0","id":%s,"result":%q}`+"\n", id, result)
	require.NoError(s.t, err)
}

// A file that is read again moves a server away from under its clients, a wrong one
// changes nothing, and the end waits for the calls: none is dropped in all this.
func TestReloadAndDrain(t *testing.T) {
	dir := t.TempDir()
	a, b := serveByHand(t, dir, "a"), serveByHand(t, dir, "b")
	name := filepath.Join(dir, "gateway.yaml")
	write := func(upstream, more string) {
		require.NoError(t, os.WriteFile(name, []byte(fmt.Sprintf(`
listen: ["unix:%s", "http://127.0.0.1:0/mcp"]
upstreams:
  tools: {url: %q, protocol: jsonrpc, isolation: shared}
drain: 1m
%s`, filepath.Join(dir, "s"), upstream, more)), 0o600))
	}
	write(a.address, "")
	p := start(t, "run", name)
	require.NoError(t, p.Start())
	defer func() { _ = p.Process.Kill() }()
	require.Contains(t, p.address(), "unix:")
	web := strings.TrimSuffix(p.address(), "/mcp")
	c, err := conn.Dial(context.Background(), "unix", filepath.Join(dir, "s"), conn.Options{})
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	call := func() <-chan string {
		out := make(chan string, 1)
		go func() {
			got, err := c.Call(context.Background(), "m", nil, conn.CallOptions{Timeout: time.Minute})
			out <- fmt.Sprint(string(got), err)
		}()
		return out
	}
	first := call()
	firstID := a.next()

	write(b.address, "surprise: 1\n")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	require.Contains(t, p.line("stays as it was"), name+":6: surprise: there is no such member")
	write(b.address, "")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	p.line("configuration read again")
	second := call()
	b.answer(b.next(), "new")
	require.Equal(t, `"new"<nil>`, <-second)
	a.answer(firstID, "old")
	require.Equal(t, `"old"<nil>`, <-first)

	third := call()
	thirdID := b.next()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.line("draining")
	r, err := http.Get(web + "/readyz")
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	require.Equal(t, "draining\n", string(text))
	require.Contains(t, <-call(), "shutting down", "no new ones")
	b.answer(thirdID, "last")
	require.Equal(t, `"last"<nil>`, <-third)
	p.rest()
	require.NoError(t, p.Wait())
	require.NoFileExists(t, filepath.Join(dir, "s"))
}

// Who may come in is read again, too, and secrets come from the environment.
func TestTokensAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "gateway.yaml")
	write := func(token string) {
		require.NoError(t, os.WriteFile(name, []byte(fmt.Sprintf(`
listen: ["http://127.0.0.1:0/mcp"]
upstreams:
  tools: {command: [cat], env: {KEY: "${GATEWAY_TEST}"}}
auth: {tokens: [{name: alice, hash: %q}]}
`, auth.HashToken(token))), 0o600))
	}
	write("one")
	p := start(t, "run", name)
	require.NoError(t, p.Start())
	defer func() { _ = p.Process.Kill() }()
	address := p.address()
	ask := func(token string) int {
		r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(`{"jsonrpc":"2.0","method":"notifications/x"}`))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusUnauthorized, ask("two"))
	require.NotEqual(t, http.StatusUnauthorized, ask("one"))
	write("two")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	p.line("configuration read again")
	require.Equal(t, http.StatusUnauthorized, ask("one"))
	require.NotEqual(t, http.StatusUnauthorized, ask("two"))
	p.rest()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait())
}
