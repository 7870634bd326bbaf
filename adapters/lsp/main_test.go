package lsp_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/conn"
)

// serverVar makes the test binary a language server over its standard input and output,
// whose end is the variable's value.
const serverVar = "CORRELATOR_LSP_SERVER"

func TestMain(m *testing.M) {
	kind := os.Getenv(serverVar)
	switch kind {
	case "":
		os.Exit(m.Run())
	case "hovers":
		serveHovers()
		return
	}
	f := newFake(new(testing.T), stdio{})
	f.serve(func(m message) {
		if m.Method == "die" {
			fmt.Fprintln(os.Stderr, "goroutine 1 [running]: no luck today")
			os.Exit(7)
		}
	})
	code := 0
	if kind == "exits with 3" {
		code = 3
	}
	os.Exit(code)
}

// stdio is the stream of a child; closing it ends its reading.
type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error                { return os.Stdin.Close() }

var _ io.ReadWriteCloser = stdio{}

func child(t testing.TB, kind string) *lsp.Client {
	t.Helper()
	quiet(t)
	self, err := os.Executable()
	require.NoError(t, err)
	c, err := lsp.Spawn(t.Context(), conn.Command{Path: self, Env: append(os.Environ(), serverVar+"="+kind)}, lsp.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A server that dies says so in every call that it leaves, with its last words.
func TestServerDies(t *testing.T) {
	c := child(t, "dies")
	_, err := c.Initialize(t.Context(), nil, lsp.CallOptions{})
	require.NoError(t, err)
	errs := make(chan error, 10)
	for i := range cap(errs) {
		o := lsp.CallOptions{}
		if i%2 == 1 {
			o.CancelGrace = 1
		}
		go func() {
			_, err := c.Call(t.Context(), "wait", nil, o)
			errs <- err
		}()
	}
	_, err = c.Call(t.Context(), "die", nil, lsp.CallOptions{})
	require.Error(t, err)
	for range cap(errs) {
		err := <-errs
		gone := new(conn.PeerGone)
		require.ErrorAs(t, err, &gone)
		require.ErrorIs(t, err, conn.ErrClosed)
		require.Equal(t, 7, gone.ExitCode)
		require.Contains(t, string(gone.StderrTail), "no luck today")
	}
	<-c.Done()
	require.ErrorContains(t, c.Err(), "exited with code 7")
	err = c.Shutdown(t.Context())
	require.ErrorIs(t, err, conn.ErrClosed)
}

// The end of a child is waited for, and its exit code is the verdict.
func TestShutdownOfAChild(t *testing.T) {
	for kind, want := range map[string]int{"exits": 0, "exits with 3": 3} {
		c := child(t, kind)
		result, err := c.Initialize(t.Context(), nil, lsp.CallOptions{})
		require.NoError(t, err)
		require.Contains(t, string(result), fmt.Sprintf(`"client":%d`, os.Getpid()), "so that it ends when its client does")
		err = c.Shutdown(t.Context())
		<-c.Done()
		if want == 0 {
			require.NoError(t, err)
			continue
		}
		gone := new(conn.PeerGone)
		require.ErrorAs(t, err, &gone)
		require.Equal(t, want, gone.ExitCode)
	}
}
