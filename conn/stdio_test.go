package conn_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// serveStdio plays a server on standard input and output, which has an idle
// timer and an open connection elsewhere. It tells its end on stderr.
//
//   - "last" is answered only when the connection is ending;
//   - "close" makes it close from its own side as well;
//   - anything else is echoed.
func serveStdio(args []string) {
	defer time.AfterFunc(time.Hour, func() { os.Exit(101) }).Stop()
	if len(args) > 0 {
		upstream := dialTest(args[0], "server")
		defer func() { _ = upstream.Close() }()
	}
	ending := make(chan struct{})
	made := make(chan *conn.Conn, 1)
	c, err := conn.Stdio(conn.Options{
		OnClose: func(err error) { fmt.Fprintln(os.Stderr, "closed:", err) },
		Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
			switch r.Method() {
			case "last":
				<-ending
				_ = r.Reply([]byte(`"after the end"`))
			case "close":
				c := <-made
				go func() { _ = c.Close() }()
			default:
				_ = r.Reply(r.Params())
			}
		}),
	})
	if err != nil {
		panic(err)
	}
	made <- c
	// A call of ours, which nobody answers, ends when the input does.
	_, err = c.Start(context.Background(), "unanswered", nil, conn.CallOptions{Timeout: -1}, func(conn.Outcome) { close(ending) })
	if err != nil {
		close(ending)
	}
	<-c.Done()
}

// run starts the part of a server with pipes that the test holds.
type run struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	err   strings.Builder
}

func start(t *testing.T, args ...string) *run {
	t.Helper()
	command := part("server", args...)
	r := &run{cmd: exec.Command(command.Path, command.Args...)}
	r.cmd.Env = command.Env
	r.cmd.Stderr = &r.err
	var err error
	r.in, err = r.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := r.cmd.StdoutPipe()
	require.NoError(t, err)
	r.lines = bufio.NewReader(out)
	require.NoError(t, r.cmd.Start())
	return r
}

func (r *run) send(t *testing.T, line string) {
	t.Helper()
	_, err := io.WriteString(r.in, line+"\n")
	require.NoError(t, err)
}

// ended checks that the server leaves by itself, with nothing more to say than
// rest, and closed once.
func (r *run) ended(t *testing.T, rest string) {
	t.Helper()
	got, err := io.ReadAll(r.lines)
	require.NoError(t, err)
	require.Equal(t, rest, string(got))
	require.NoError(t, r.cmd.Wait(), "%s", r.err.String())
	require.Equal(t, 1, strings.Count(r.err.String(), "closed:"), "%s", r.err.String())
}

const unanswered = `"method":"unanswered"`

func TestL10NoticesEOF(t *testing.T) {
	nothingLeft(t)

	t.Run("stdin is the null device", func(t *testing.T) {
		command := part("server")
		cmd := exec.Command(command.Path)
		cmd.Env = command.Env
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", text)
		require.Equal(t, 1, strings.Count(string(text), "closed:"), "%s", text)
	})

	t.Run("after a conversation", func(t *testing.T) {
		address, next := lives(t)
		r := start(t, address)
		next()
		line, err := r.lines.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, unanswered)
		r.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":1}}`)
		line, err = r.lines.ReadString('\n')
		require.NoError(t, err)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, line)
		require.NoError(t, r.in.Close())
		r.ended(t, "")
	})

	t.Run("answers still being made are written", func(t *testing.T) {
		r := start(t)
		_, err := r.lines.ReadString('\n')
		require.NoError(t, err)
		r.send(t, `{"jsonrpc":"2.0","id":"x","method":"last"}`)
		require.NoError(t, r.in.Close())
		r.ended(t, `{"jsonrpc":"2.0","id":"x","result":"after the end"}`+"\n")
	})

	t.Run("closed from both sides at once", func(t *testing.T) {
		for range 10 {
			r := start(t)
			_, err := r.lines.ReadString('\n')
			require.NoError(t, err)
			r.send(t, `{"jsonrpc":"2.0","method":"close"}`)
			require.NoError(t, r.in.Close())
			r.ended(t, "")
		}
	})

	t.Run("closed from its own side alone", func(t *testing.T) {
		r := start(t)
		_, err := r.lines.ReadString('\n')
		require.NoError(t, err)
		r.send(t, `{"jsonrpc":"2.0","method":"close"}`)
		r.ended(t, "")
		_ = r.in.Close()
	})
}

// A server whose reader went away is told by an error, not killed by a signal.
func TestStdioBrokenOutput(t *testing.T) {
	nothingLeft(t)
	command := part("server")
	cmd := exec.Command(command.Path)
	cmd.Env = command.Env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, ours, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = ours
	require.NoError(t, cmd.Start())
	require.NoError(t, ours.Close())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, out.Close())
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"echo"}`+"\n")
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "%s", stderr.String())
	require.Contains(t, stderr.String(), "closed:")
	_ = in.Close()
}

// Both sides are ours: Spawn here, Stdio there.
func TestSpawnedStdio(t *testing.T) {
	nothingLeft(t)
	c := spawn(t, part("server"), conn.Options{})
	big := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	for range 10 {
		got, err := c.Call(t.Context(), "echo", big, conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, len(big), len(got))
	}
	require.NoError(t, c.Close())
}
