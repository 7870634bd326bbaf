package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/guard"
	"github.com/correlator-go/correlator/internal/echo"
)

// TestMain lets the test binary be the server that the command shares, and the command.
func TestMain(m *testing.M) {
	guard.Hook()
	switch os.Getenv("GATEWAY_TEST") {
	case "server":
		if dir := os.Getenv(stubbornDir); dir != "" {
			if err := stubborn(dir, os.Getenv(stubbornName)); err != nil {
				_, _ = fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
		stream, err := conn.StdioStream()
		if err == nil {
			err = echo.Serve(stream, echo.Options{MCP: true})
		}
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case "gateway":
		_ = os.Setenv("GATEWAY_TEST", "server") // for its children
		main()
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"":                         "no COMMAND",
		"-url tcp://h:1 -- cat":    "exclude",
		"-nonsense -- cat":         "not defined",
		"-timeout fast -- cat":     "invalid value",
		"-listen unix:s -- cat -x": "",
		"-url unix:/s":             "",
	} {
		_, err := parse(strings.Fields(args), io.Discard)
		if want == "" {
			require.NoError(t, err, args)
		} else {
			require.ErrorContains(t, err, want, args)
		}
	}
	_, err := parse([]string{"-h"}, io.Discard)
	require.ErrorIs(t, err, flag.ErrHelp)
	for args, want := range map[string]string{
		"-listen http://0.0.0.0:1/mcp -- cat": "command line: listen[0]: other machines can reach it",
		"-isolation everybody -- cat":         "command line: upstreams.server.isolation: must be one of",
		"-url ftp://h -listen stdio:":         "command line: upstreams.server.url: must begin with",
	} {
		s, err := parse(strings.Fields(args), io.Discard)
		require.NoError(t, err)
		_, err = s.config()
		require.ErrorContains(t, err, want)
	}
}

// COMMAND is shared unless told otherwise, and help says so.
func TestSharesByDefault(t *testing.T) {
	s, err := parse([]string{"--", "cat"}, io.Discard)
	require.NoError(t, err)
	c, err := s.config()
	require.NoError(t, err)
	require.Equal(t, "shared", c.Upstreams["server"].Isolation)
	require.Equal(t, "http://127.0.0.1:8808/mcp", c.Listen[0].Address)
	var out bytes.Buffer
	require.Equal(t, exitOK, run(context.Background(), []string{"help"}, &out, io.Discard))
	require.Contains(t, out.String(), "a child process that all clients share")
}

// gatewayProcess is the command as a process.
type gatewayProcess struct {
	*exec.Cmd
	t     *testing.T
	lines *bufio.Reader
}

func start(t *testing.T, args ...string) *gatewayProcess {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := &gatewayProcess{Cmd: exec.Command(self, args...), t: t}
	p.Env = append(os.Environ(), "GATEWAY_TEST=gateway")
	out, err := p.StderrPipe()
	require.NoError(t, err)
	p.lines = bufio.NewReader(out)
	return p
}

// line waits for one that holds text.
func (p *gatewayProcess) line(text string) string {
	p.t.Helper()
	for {
		line, err := p.lines.ReadString('\n')
		require.NoError(p.t, err, "before %q", text)
		if strings.Contains(line, text) {
			return strings.TrimSpace(line)
		}
	}
}

func (p *gatewayProcess) address() string {
	p.t.Helper()
	const mark = "gateway: serving at "
	line := p.line(mark)
	return line[strings.Index(line, mark)+len(mark):]
}

// rest reads on, so that the process never waits.
func (p *gatewayProcess) rest() { go func() { _, _ = io.Copy(io.Discard, p.lines) }() }

// From nothing to a shared server: two clients come over HTTP and have one child.
func TestSharesChildOverHTTP(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	p := start(t, "-listen", "http://127.0.0.1:0/mcp", "--", self)
	require.NoError(t, p.Start())
	defer func() { _ = p.Process.Kill() }()
	address := p.address()
	page := p.line("gateway: status page at ")
	page = page[strings.Index(page, "http://"):]
	require.Contains(t, page, "/#token=gw_")
	p.rest()
	for range 2 {
		c, err := client.Connect(t.Context(), client.HTTP{Endpoint: address}, client.Options{})
		require.NoError(t, err)
		var names []string
		for tool, err := range c.Tools(t.Context()) {
			require.NoError(t, err)
			names = append(names, tool.Name)
		}
		require.NotEmpty(t, names)
		require.NoError(t, c.Close())
	}
	base, _, _ := strings.Cut(page, "#")
	for path, want := range map[string]string{
		"healthz": "ok", "readyz": "ready", "": "<title>Gateway</title>", "metrics": "correlator_gateway_upstreams_opened_total 1",
	} {
		r, err := http.Get(base + path)
		require.NoError(t, err)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		require.Equal(t, http.StatusOK, r.StatusCode, path)
		require.Contains(t, string(text), want)
	}
}

// The program ends when the one that started it closes its standard input, even
// though its server is up.
func TestL10StdinEnds(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for name, say := range map[string]string{
		"at once":          "",
		"after initialize": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "-stdio", "--", self)
			in, err := p.StdinPipe()
			require.NoError(t, err)
			out, err := p.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, p.Start())
			p.rest()
			answers := bufio.NewReader(out)
			if say != "" {
				_, err = io.WriteString(in, say)
				require.NoError(t, err)
				answer, err := answers.ReadString('\n')
				require.NoError(t, err)
				require.Contains(t, answer, `"protocolVersion":"2025-11-25"`)
			}
			require.NoError(t, in.Close())
			over := make(chan error, 1)
			go func() { over <- p.Wait() }()
			select {
			case err := <-over:
				require.NoError(t, err, "exit code 0")
			case <-time.After(time.Minute):
				_ = p.Process.Kill()
				t.Fatal("it lives on")
			}
		})
	}
}

func TestVerbs(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "gateway.yaml")
	var out, errs bytes.Buffer
	do := func(args ...string) int {
		out.Reset()
		errs.Reset()
		return run(context.Background(), args, &out, &errs)
	}
	require.Equal(t, exitOK, do("init", name))
	require.Contains(t, out.String(), "now: gateway run")
	require.Equal(t, exitFail, do("init", name), "what is there stays")
	require.Equal(t, exitOK, do("check", name), errs.String())
	require.Contains(t, out.String(), "ok: 1 upstream, 1 place to listen\n")

	require.NoError(t, os.WriteFile(name, []byte("upstreams:\n  a:\n    command: x\n"), 0o600))
	require.Equal(t, exitUsage, do("check", name))
	require.Equal(t, name+":3: upstreams.a.command: must be a list, such as [one, two]\n", errs.String())
	require.Equal(t, exitUsage, do("run", name))

	// What only opening the files shows has its line, too.
	require.NoError(t, os.WriteFile(name, []byte("upstreams:\n  a: {command: [x]}\nlisten:\n  - address: https://127.0.0.1:0/mcp\n    tls: {cert: /nowhere, key: /nowhere}\n"), 0o600))
	require.Equal(t, exitUsage, do("check", name))
	require.Contains(t, errs.String(), name+":4: listen[0]: ")
	require.Contains(t, errs.String(), "/nowhere")

	require.Equal(t, exitFail, do("--", "no-such-program-anywhere"))
	require.Contains(t, errs.String(), `"no-such-program-anywhere": executable file not found`)

	missing := filepath.Join(dir, "missing")
	for _, verb := range []string{"check", "run"} {
		require.Equal(t, exitFail, do(verb, missing))
		require.Contains(t, errs.String(), "gateway init "+missing+" writes one")
	}
	require.Equal(t, exitUsage, do("check", "a", "b"))
	require.Equal(t, exitUsage, do("chekc"), "a slip is no server to start")
	require.Contains(t, errs.String(), `unknown verb "chekc"; a COMMAND to share stands behind --`)
	require.Equal(t, exitOK, do("schema"))
	require.Equal(t, string(config.Schema()), out.String())
	require.Equal(t, exitOK, do("token"))
	require.Regexp(t, `^token: gw_[0-9a-f]{64}\nhash:  sha256:[0-9a-f]{64}\n$`, out.String())
	require.Equal(t, exitUsage, do())
	require.Contains(t, errs.String(), "no COMMAND")
	require.Equal(t, exitOK, do("-h"))
	require.Contains(t, errs.String(), "share one server")
}
