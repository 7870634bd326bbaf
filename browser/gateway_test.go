package browser_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// shared is a gateway before a server that takes calls and answers none.
type shared struct {
	page, token string
	client      net.Conn
	answers     *bufio.Reader
	server      net.Listener
	conns       chan net.Conn
}

func share(t *testing.T) *shared {
	t.Helper()
	s := &shared{conns: make(chan net.Conn, 8)}
	var err error
	s.server, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.server.Close() })
	go func() {
		for {
			c, err := s.server.Accept()
			if err != nil {
				close(s.conns)
				return
			}
			s.conns <- c
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}()
	t.Cleanup(func() {
		_ = s.server.Close()
		for c := range s.conns {
			_ = c.Close()
		}
	})
	c := exec.Command(gatewayPath, "-plain", "-listen", "tcp://127.0.0.1:0", "-listen", "http://127.0.0.1:0/mcp", "-url", "tcp://"+s.server.Addr().String())
	errs, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	lines := bufio.NewReader(errs)
	var tcp string
	for s.page == "" {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "gateway: serving at tcp://"); ok {
			tcp = at
		}
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "gateway: status page at "); ok {
			s.page, s.token, _ = strings.Cut(at, "#token=")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	s.client, err = net.Dial("tcp", tcp)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.client.Close() })
	s.answers = bufio.NewReader(s.client)
	return s
}

func (s *shared) call(t *testing.T, id, tool string) {
	t.Helper()
	_, err := fmt.Fprintf(s.client, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q}}`+"\n", id, tool)
	require.NoError(t, err)
}

func (s *shared) answer(t *testing.T) string {
	t.Helper()
	require.NoError(t, s.client.SetReadDeadline(time.Now().Add(bound)))
	line, err := s.answers.ReadString('\n')
	require.NoError(t, err)
	return line
}

const slowestRows = `document.querySelectorAll("#slowest tr").length`

// The status page shows a call that hangs, with an age that grows, and ends it by a
// button, which needs the token.
func TestStatusPage(t *testing.T) {
	for _, size := range screens {
		t.Run(size.String(), func(t *testing.T) {
			need(t)
			s := share(t)
			p := open(t, s.page, size)
			p.until(state + ` === "Live" && document.querySelectorAll("#upstreams tr").length === 1`)
			p.until(`document.getElementById("none").getClientRects().length > 0`)
			require.Empty(t, eval[audit](p, auditScript).Found)

			// What clients choose is text and nothing else.
			s.call(t, `7`, `<img src=x onerror="document.title='taken'">`)
			s.call(t, `"b"`, "sleep")
			p.until(slowestRows + ` === 2 && document.querySelector("#upstreams td.up") !== null`)
			const age = `parseFloat(document.querySelector("#slowest td").textContent)`
			before := eval[float64](p, age)
			p.until(fmt.Sprintf("%s > %f", age, before)) // it is live
			require.Contains(t, eval[string](p, `document.querySelector("#slowest tr").innerText`), "<img src=x")
			require.Equal(t, "Gateway", eval[string](p, `document.title`))
			require.Empty(t, eval[audit](p, auditScript).Found)
			p.shot("gateway " + size.String())

			p.run(chromedp.Click(chromedp.CSS("#slowest tr:first-child button")))
			p.until(`document.getElementById("said").textContent.includes("needs the status token")`)
			require.Equal(t, 2, eval[int](p, slowestRows))
			require.Equal(t, "token", eval[string](p, `document.activeElement.id`))
			require.Empty(t, eval[audit](p, auditScript).Found)

			p.run(chromedp.SendKeys(chromedp.CSS("#token"), s.token+"\r"))
			p.until(`document.getElementById("said").textContent === "" && ` + state + ` === "Live"`)
			p.run(chromedp.Click(chromedp.CSS("#slowest tr:first-child button")))
			p.until(slowestRows + ` === 1`)
			got := s.answer(t)
			require.Contains(t, got, `"id":7`)
			require.Contains(t, got, "cancelled by an operator")
			p.until(`document.getElementById("calls").textContent.includes("cancelled1")`)

			// The only complaint of the console is the refusal that was asked for.
			p.mu.Lock()
			require.Len(t, p.said, 1)
			require.Contains(t, p.said[0], "401")
			p.said = nil
			p.mu.Unlock()
			for _, asked := range p.quiet() {
				require.True(t, strings.HasPrefix(asked, s.page), asked)
				require.NotContains(t, asked, s.token)
			}
		})
	}
}

// The address that the log has brings the token behind the #, where no server sees it,
// and it does not stay there.
func TestStatusPageByAddress(t *testing.T) {
	need(t)
	s := share(t)
	p := open(t, s.page+"#token="+s.token, screens[0])
	s.call(t, `1`, "sleep")
	p.until(slowestRows + ` === 1`)
	require.Empty(t, eval[string](p, `location.hash`))
	p.run(chromedp.Click(chromedp.CSS("#slowest button")))
	require.Contains(t, s.answer(t), "cancelled by an operator")
	p.until(slowestRows + ` === 0`)
	for _, asked := range p.quiet() {
		require.NotContains(t, asked[strings.Index(asked, "//"):], s.token+"&")
	}
}
