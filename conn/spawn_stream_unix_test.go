//go:build unix

package conn_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

func TestSpawnStream(t *testing.T) {
	_, err := conn.SpawnStream(background, conn.Command{Path: "/nowhere/to/be/found"})
	require.ErrorIs(t, err, os.ErrNotExist)

	s, err := conn.SpawnStream(background, conn.Command{Path: "sh", Args: []string{"-c", "cat; echo gone >&2; exit 3"}})
	require.NoError(t, err)
	_, err = io.WriteString(s, "echo\n")
	require.NoError(t, err)
	buf := make([]byte, 5)
	_, err = io.ReadFull(s, buf)
	require.NoError(t, err)
	require.Equal(t, "echo\n", string(buf))
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	_, err = s.Read(buf)
	require.ErrorIs(t, err, io.EOF)
	gone, ok := errors.AsType[*conn.PeerGone](err)
	require.True(t, ok)
	require.Equal(t, 3, gone.ExitCode)
	require.Equal(t, "gone\n", string(gone.StderrTail))
	require.NoError(t, <-closed)
	require.NoError(t, s.Close())
}
