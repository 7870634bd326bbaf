package interop

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// ours is examples/everything, built once for all tests.
var ours struct {
	once sync.Once
	dir  string
	err  error
}

// serveEnv makes the test program a server of go-sdk on its standard input and
// output.
const serveEnv = "INTEROP_SERVE"

func TestMain(m *testing.M) {
	if which := os.Getenv(serveEnv); which != "" {
		server := newWorkshop().server
		if which == crowdServer {
			server = newCrowdServer()
		}
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if ours.dir != "" {
		_ = os.RemoveAll(ours.dir)
	}
	os.Exit(code)
}

// ourServer is the path of the built server. It speaks on its standard input and
// output.
func ourServer(t *testing.T) string {
	t.Helper()
	ours.once.Do(func() {
		if ours.dir, ours.err = os.MkdirTemp("", "interop"); ours.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", filepath.Join(ours.dir, "everything"), "./examples/everything")
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			ours.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	require.NoError(t, ours.err)
	return filepath.Join(ours.dir, "everything")
}

// ourEndpoint starts our server with Streamable HTTP and gives its URL. When the
// test is over it must end by itself on an interrupt.
func ourEndpoint(t *testing.T) string {
	t.Helper()
	return start(t, exec.Command(ourServer(t), "-http", "127.0.0.1:0"))
}

// start runs a server that says its URL on its standard error, and gives it.
func start(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewScanner(stderr)
	url := ""
	var said []string
	for url == "" && lines.Scan() {
		said = append(said, lines.Text())
		if _, at, ok := strings.Cut(lines.Text(), "http://"); ok {
			url = "http://" + strings.TrimSpace(at)
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
			said = append(said, lines.Text())
		}
	}()
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		<-drained
		if err := c.Wait(); err != nil {
			t.Errorf("the server ended with %v:\n%s", err, strings.Join(said, "\n"))
		} else if t.Failed() {
			t.Logf("the server said:\n%s", strings.Join(said, "\n"))
		}
	})
	require.NotEmpty(t, url, "the server did not say where it is:\n%s", strings.Join(said, "\n"))
	return url
}
