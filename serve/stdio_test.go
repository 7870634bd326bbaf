package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// asServer makes the test binary a server on its standard input and output.
const asServer = "CORRELATOR_TEST_STDIO_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	d, err := mcp.NewServer(newTools().description())
	if err == nil {
		var s *serve.Server
		if s, err = serve.New(d, serve.Options{}); err == nil {
			err = s.Stdio(context.Background())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start runs the server as a child process.
func start(t *testing.T) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, in, bufio.NewReader(stdout)
}

// A thousand calls, and the end of the input behind them: all are answered, and the
// process ends well. No peer that we know of does that.
func TestStdioAnswersBeforeItEnds(t *testing.T) {
	cmd, in, out := start(t)
	const calls = 1000
	go func() {
		for i := range calls {
			_, _ = fmt.Fprintln(in, call(fmt.Sprint(i), "echo", fmt.Sprintf(`{"text":"%d"}`, i)))
		}
		_ = in.Close()
	}()
	seen := map[string]bool{}
	for range calls {
		line, err := out.ReadString('\n')
		require.NoError(t, err)
		a := parse(t, line)
		require.Equal(t, string(a.ID), a.text(t))
		seen[string(a.ID)] = true
	}
	_, err := out.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, seen, calls)
	require.NoError(t, cmd.Wait())
}

// L10: an input that is at its end from the start, and rubbish before it.
func TestL10StdioEnds(t *testing.T) {
	for _, text := range []string{"", "\n", "Server started\n\xff\n"} {
		cmd, in, out := start(t)
		_, err := io.Copy(in, strings.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, in.Close())
		rest, err := io.ReadAll(out)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.NoError(t, cmd.Wait())
	}
}
