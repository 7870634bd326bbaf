package target_test

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/target"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]target.Spec{
		"pipe:echo":             {Kind: "pipe"},
		"unix:/run/a b.sock":    {Kind: "unix", Address: "/run/a b.sock"},
		"tcp:127.0.0.1:80":      {Kind: "tcp", Address: "127.0.0.1:80"},
		"tcp:[::1]:80":          {Kind: "tcp", Address: "[::1]:80"},
		"http://a:80/mcp":       {Kind: "http", Address: "http://a:80/mcp"},
		"https://a/":            {Kind: "https", Address: "https://a/"},
		"exec:npx -y 'a b' c":   {Kind: "exec", Command: []string{"npx", "-y", "a b", "c"}},
		`exec:C:\bin\x.exe run`: {Kind: "exec", Command: []string{`C:\bin\x.exe`, "run"}},
	} {
		got, err := target.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "pipe", "pipe:", "pipe:x", "tcp:80", "unix:", "exec:", "exec: ", "exec:'a", "http:", "http:///x", "https://%", "ftp://x", "echo"} {
		_, err := target.Parse(text)
		require.Error(t, err, text)
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"a  b\tc":            {"a", "b", "c"},
		`a "b c" 'd "e'`:     {"a", "b c", `d "e`},
		`a\ b "c\"d\x" '\n'`: {"a b", `c"d\x`, `\n`},
		`a '' b`:             {"a", "", "b"},
		`x'y'"z"`:            {"xyz"},
		`{"k":1}`:            {"{k:1}"},
		`a\`:                 {`a\`},
	} {
		got, err := target.Words(line)
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
	}
}

func open(t *testing.T, spec string, o target.Options) *target.Target {
	t.Helper()
	s, err := target.Parse(spec)
	require.NoError(t, err)
	x, err := target.Open(t.Context(), s, o)
	require.NoError(t, err)
	return x
}

func TestPipe(t *testing.T) {
	x := open(t, "pipe:echo", target.Options{})
	result, err := x.Conns[0].Call(t.Context(), "a", []byte(`[1]`), conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "[1]", string(result))
	n, err := x.Counts(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, n.Requests)
	require.Zero(t, x.Asked())
	require.NoError(t, x.Close())
}

func TestSocketAndItsCounters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer listener.Close()
	served := make(chan error, 1)
	go func() {
		c, err := listener.Accept()
		if err == nil {
			err = echo.Serve(c, echo.Options{Shape: echo.Shape{Delay: echo.Delay{Distribution: echo.Constant, Scale: 30 * time.Millisecond}}})
		}
		served <- err
	}()
	x := open(t, "unix:"+path, target.Options{})
	_, err = x.Conns[0].Start(t.Context(), "a", nil, conn.CallOptions{}, func(conn.Outcome) {})
	require.NoError(t, err)
	n, err := x.Settled(t.Context(), 10*time.Second, func(n echo.Counts) bool { return n.Answers == 1 })
	require.NoError(t, err)
	require.EqualValues(t, 1, n.Requests)
	require.Zero(t, n.Held)
	require.Positive(t, x.Asked())
	require.NoError(t, x.Close())
	require.NoError(t, <-served)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	s, err := target.Parse("exec:no-such-program-here --flag")
	require.NoError(t, err)
	_, err = target.Open(t.Context(), s, target.Options{})
	require.ErrorIs(t, err, exec.ErrNotFound)
	require.ErrorContains(t, err, "no-such-program-here --flag")
	s, err = target.Parse("unix:" + filepath.Join(t.TempDir(), "nobody"))
	require.NoError(t, err)
	_, err = target.Open(t.Context(), s, target.Options{})
	require.ErrorContains(t, err, "nobody")
}

func TestShake(t *testing.T) {
	for name, test := range map[string]struct {
		echo    echo.Options
		version string
		meta    bool
	}{
		"modern": {echo.Options{MCP: true, Discover: true}, "2026-07-28", true},
		"legacy": {echo.Options{MCP: true}, "2025-11-25", false},
	} {
		t.Run(name, func(t *testing.T) {
			x := open(t, "pipe:echo", target.Options{Echo: test.echo})
			session, err := target.Shake(t.Context(), x.Conns[0], target.Greeting{Probe: time.Second})
			require.NoError(t, err)
			require.Equal(t, test.version, session.Version)
			require.Equal(t, "correlator-echo 1", session.Server)
			require.Equal(t, test.meta, session.Meta != nil)
			require.NoError(t, x.Close())
			require.EqualValues(t, map[bool]int64{true: 0, false: 1}[test.meta], x.Echo.Snapshot().Notifications, "initialized")
		})
	}
}

func TestShakeFails(t *testing.T) {
	// A plain echo server's answer to server/discover holds no versions.
	x := open(t, "pipe:echo", target.Options{})
	_, err := target.Shake(t.Context(), x.Conns[0], target.Greeting{Probe: time.Second})
	require.ErrorContains(t, err, "no common revision")
	require.NoError(t, x.Close())

	x = open(t, "pipe:echo", target.Options{Echo: echo.Options{MCP: true, Shape: echo.Shape{DieAfter: 1}}})
	_, err = target.Shake(t.Context(), x.Conns[0], target.Greeting{Probe: time.Second})
	require.ErrorAs(t, err, new(*conn.PeerGone))
	require.NoError(t, x.Close())

	// Nobody answers, and the caller's time is over before the probe's.
	x = open(t, "pipe:echo", target.Options{Echo: echo.Options{MCP: true, Shape: echo.Shape{Blackhole: 1}}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = target.Shake(ctx, x.Conns[0], target.Greeting{Probe: time.Minute})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, x.Close())
}

func TestToolFailed(t *testing.T) {
	require.True(t, target.ToolFailed([]byte(`{"content":[],"isError":true}`)))
	require.True(t, target.ToolFailed([]byte(`{"isError": true}`)))
	require.False(t, target.ToolFailed([]byte(`{"content":[{"text":"\"isError\":true"}],"isError":false}`)))
}

func TestCloseCutsAStallShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		x := open(t, "pipe:echo", target.Options{Echo: echo.Options{Shape: echo.Shape{StallFor: time.Hour}}})
		_, err := x.Conns[0].Call(t.Context(), "m", nil, conn.CallOptions{Timeout: time.Second})
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.NoError(t, x.Close())
		require.Less(t, time.Since(began), time.Minute)
	})
}
