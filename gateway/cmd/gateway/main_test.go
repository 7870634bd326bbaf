package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
)

// TestMain lets the test binary be the server that the command shares.
func TestMain(m *testing.M) {
	if os.Getenv("GATEWAY_TEST_SERVER") != "" {
		stream, err := conn.StdioStream()
		if err == nil {
			err = echo.Serve(stream, echo.Options{MCP: true})
		}
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"":                         "no COMMAND",
		"-dial /s -- cat":          "exclude",
		"-unix /s -tcp :1 -- cat":  "exclude",
		"-nonsense -- cat":         "not defined",
		"-timeout fast -- cat":     "invalid value",
		"-unix /s -- cat -x -unix": "",
		"-dial /s":                 "",
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
}

// Clients at a unix socket share the one child.
func TestSharesChild(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("GATEWAY_TEST_SERVER", "1")
	path := filepath.Join(t.TempDir(), "s")
	ctx, stop := context.WithCancel(context.Background())
	code := make(chan int, 1)
	serving, stderr := io.Pipe()
	go func() {
		code <- run(ctx, []string{"-unix", path, "--", self}, stderr)
		_ = stderr.Close()
	}()
	line := make([]byte, 256)
	_, err = serving.Read(line)
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, serving) }()
	for range 2 {
		c, err := conn.Dial(context.Background(), "unix", path, conn.Options{})
		require.NoError(t, err)
		_, err = c.Call(context.Background(), "initialize", []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`), conn.CallOptions{})
		require.NoError(t, err)
		tools, err := c.Call(context.Background(), "tools/list", nil, conn.CallOptions{})
		require.NoError(t, err)
		require.Contains(t, string(tools), `"tools"`)
		require.NoError(t, c.Close())
	}
	stop()
	require.Equal(t, exitOK, <-code)
	_, err = net.Dial("unix", path)
	require.Error(t, err, "nobody listens any more")
}

func TestUsage(t *testing.T) {
	var out bytes.Buffer
	require.Equal(t, exitUsage, run(context.Background(), nil, &out))
	require.Contains(t, out.String(), "no COMMAND")
	out.Reset()
	require.Equal(t, exitOK, run(context.Background(), []string{"-h"}, &out))
	require.Contains(t, out.String(), "Shares one server")
}
