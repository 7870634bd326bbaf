package node_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/node"
	"github.com/correlator-go/correlator/internal/echo"
)

// reloading is a node before a server that answers, whose file is read again and again.
type reloading struct {
	t    *testing.T
	n    *node.Node
	base string // of each file
	at   node.Ready
}

func startReloading(t *testing.T, listen string) *reloading {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() { _ = echo.Serve(c, echo.Options{MCP: true}) }()
		}
	}()
	r := &reloading{t: t, base: fmt.Sprintf("upstreams:\n  echo: {url: %q, isolation: shared}\n", "tcp://"+server.Addr().String())}
	ready := make(chan node.Ready, 1)
	r.n, err = node.New(parse(t, r.base+listen), node.Options{Ready: func(at node.Ready) { ready <- at }})
	require.NoError(t, err)
	r.at = run(t, r.n, ready)
	return r
}

func (r *reloading) reload(more string) {
	r.t.Helper()
	require.NoError(r.t, r.n.Reload(parse(r.t, r.base+more)))
}

// lineClient is a client on a socket.
type lineClient struct {
	t *testing.T
	net.Conn
	lines *bufio.Reader
}

func dialAt(t *testing.T, address string) *lineClient {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	c, err := net.Dial(u.Scheme, u.Host+u.Path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
	return &lineClient{t, c, bufio.NewReader(c)}
}

func (c *lineClient) ask(id, method string) string {
	c.t.Helper()
	_, err := c.Write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}` + "\n"))
	require.NoError(c.t, err)
	line, err := c.lines.ReadString('\n')
	require.NoError(c.t, err)
	return line
}

// Addresses open and close as the file says; who came in by one that is gone is served on.
func TestReloadMovesAddresses(t *testing.T) {
	dir := t.TempDir()
	first, second := "unix:"+filepath.ToSlash(filepath.Join(dir, "a")), "unix:"+filepath.ToSlash(filepath.Join(dir, "b"))
	r := startReloading(t, fmt.Sprintf("listen: [%q, \"tcp://127.0.0.1:0\"]\n", first))
	old, kept := dialAt(t, first), dialAt(t, r.at.Clients[1])
	require.Contains(t, old.ask("1", "ping"), `"id":1,"result"`)
	r.reload(fmt.Sprintf("listen: [%q, \"tcp://127.0.0.1:0\"]\n", second))
	_, err := net.Dial("unix", filepath.Join(dir, "a"))
	require.Error(t, err, "nobody comes in there any more")
	for _, c := range []*lineClient{old, kept, dialAt(t, second), dialAt(t, r.at.Clients[1])} {
		require.Contains(t, c.ask("2", "tools/list"), `"id":2,"result"`)
	}
	err = r.n.Reload(parse(t, r.base+fmt.Sprintf("listen: [%q, \"unix:/nowhere/at/all/s\"]\n", first)))
	require.ErrorContains(t, err, "f.yaml:3: listen: ")
	require.Contains(t, dialAt(t, second).ask("3", "ping"), `"id":3,"result"`, "nothing has changed")
}

// Bounds of clients count for who comes in from then on, at the same address, and rates
// and limits for all.
func TestReloadOfBounds(t *testing.T) {
	const listen = "listen: [\"tcp://127.0.0.1:0\"]\n"
	r := startReloading(t, listen)
	long := strings.Repeat("x", 2000)
	old := dialAt(t, r.at.Clients[0])
	require.Contains(t, old.ask("1", "tools/list"), `"result"`)
	r.reload(listen + "clients: {frame: 1000}\n")
	require.Contains(t, old.ask("2", long), `-32601`, "it goes by what was said when it came in")
	require.Contains(t, dialAt(t, r.at.Clients[0]).ask("1", long), `frame too large`)
	r.reload(listen + "clients: {rate: 0.000001, burst: 1}\n")
	require.Contains(t, old.ask("3", "tools/list"), `"result"`)
	require.Contains(t, old.ask("4", "tools/list"), `too many calls a second`)
	require.Contains(t, dialAt(t, r.at.Clients[0]).ask("1", "tools/list"), `too many calls a second`, "it is the same client")
	r.reload(listen)
	require.Contains(t, old.ask("5", "tools/list"), `"result"`)
}

// post sends a request on a connection of its own.
func post(t *testing.T, address, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, address, strings.NewReader(body))
	require.NoError(t, err)
	request.Close = true
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header, string(text)
}

// A session of the older era lives through a change of its address's options, of its path
// and of who may come in, by the rules that hold now.
func TestReloadKeepsSessions(t *testing.T) {
	r := startReloading(t, "listen: [\"http://127.0.0.1:0/mcp\"]\n")
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	status, header, body := post(t, r.at.Clients[0], hello)
	require.Equal(t, http.StatusOK, status, body)
	session := []string{"Mcp-Session-Id", header.Get("Mcp-Session-Id")}
	for _, more := range []string{
		"listen: [{address: \"http://127.0.0.1:0/mcp\", origins: [\"https://a.example\"]}]\n",
		"listen: [{address: \"http://127.0.0.1:0/mcp\", origins: [\"https://b.example\"]}]\nclients: {frame: 10000}\n",
		"listen: [\"http://127.0.0.1:0/other\"]\n",
		"listen: [\"http://127.0.0.1:0/mcp\"]\n",
	} {
		r.reload(more)
		status, _, body = post(t, r.at.Clients[0], list, session...)
		require.Equal(t, http.StatusOK, status, more+body)
		require.Contains(t, body, `"id":2,"result"`)
	}
	other := strings.Replace(r.at.Clients[0], "/mcp", "/other", 1)
	status, _, _ = post(t, other, hello)
	require.Equal(t, http.StatusNotFound, status)
	r.reload("listen: [\"http://127.0.0.1:0/mcp\"]\nauth: {tokens: [{name: a, hash: \"" + auth.HashToken("a") + "\"}]}\n")
	status, _, _ = post(t, r.at.Clients[0], list, session...)
	require.Equal(t, http.StatusUnauthorized, status)
	status, _, _ = post(t, r.at.Clients[0], hello)
	require.Equal(t, http.StatusUnauthorized, status)
	status, _, _ = post(t, r.at.Clients[0], hello, "Authorization", "Bearer a")
	require.Equal(t, http.StatusOK, status)
}

// The status page moves, and its token changes.
func TestReloadMovesStatus(t *testing.T) {
	const listen = "listen: [\"http://127.0.0.1:0/mcp\"]\n"
	r := startReloading(t, listen)
	base := strings.TrimSuffix(r.at.Clients[0], "mcp")
	get := func(address string) int {
		answer, err := http.Get(address)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	cancel := func(token string) int {
		request, err := http.NewRequest(http.MethodPost, base+"status/cancel", strings.NewReader(`{"client":9,"id":"1"}`))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusOK, get(base+"metrics"))
	r.reload(listen + "status: {token: one}\n")
	require.NotEqual(t, http.StatusUnauthorized, cancel("one"))
	r.reload(listen + "status: {token: two}\n")
	require.Equal(t, http.StatusUnauthorized, cancel("one"))
	require.NotEqual(t, http.StatusUnauthorized, cancel("two"))
	r.reload(listen + "status: none\n")
	require.Equal(t, http.StatusNotFound, get(base+"metrics"))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	own := free.Addr().String()
	require.NoError(t, free.Close())
	r.reload(listen + "status: \"" + own + "\"\n")
	require.Equal(t, http.StatusOK, get("http://"+own+"/metrics"))
	require.Equal(t, http.StatusNotFound, get(base+"metrics"))
	r.reload(listen)
	require.Equal(t, http.StatusOK, get(base+"metrics"))
	_, err = net.Dial("tcp", own)
	require.Error(t, err)
}

// However often the file is read again, no call is dropped and nobody is turned away.
func TestStressReload(t *testing.T) {
	r := startReloading(t, "listen: [\"http://127.0.0.1:0/mcp\", \"tcp://127.0.0.1:0\"]\n")
	stop := make(chan struct{})
	over := make(chan error, 4)
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	each := func(ask func() error) {
		for {
			select {
			case <-stop:
				over <- nil
				return
			default:
				if err := ask(); err != nil {
					over <- err
					return
				}
			}
		}
	}
	for range 2 {
		go each(func() error {
			request, err := http.NewRequest(http.MethodPost, r.at.Clients[0], strings.NewReader(list))
			if err != nil {
				return err
			}
			request.Close = true
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Accept", "application/json, text/event-stream")
			request.Header.Set("Mcp-Protocol-Version", "2026-07-28")
			request.Header.Set("Mcp-Method", "tools/list")
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				return err
			}
			text, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if err == nil && !strings.Contains(string(text), `"result"`) {
				err = fmt.Errorf("%d %s", answer.StatusCode, text)
			}
			return err
		})
		go each(func() error {
			u, err := url.Parse(r.at.Clients[1])
			if err != nil {
				return err
			}
			c, err := net.Dial("tcp", u.Host)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			if _, err := c.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")); err != nil {
				return err
			}
			line, err := bufio.NewReader(c).ReadString('\n')
			if err == nil && !strings.Contains(line, `"result"`) {
				err = fmt.Errorf("%s", line)
			}
			return err
		})
	}
	for i := range 60 {
		r.reload(fmt.Sprintf("listen: [{address: \"http://127.0.0.1:0/mcp\", origins: [\"https://%d.example\"]}, \"tcp://127.0.0.1:0\"]\nclients: {frame: %d, rate: %d}\nlimits: {inFlight: %d}\n", i, 10000+i, 1000000+i, 1+i%3))
	}
	close(stop)
	for range cap(over) {
		require.NoError(t, <-over)
	}
}
