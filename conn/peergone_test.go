package conn_test

import (
	"errors"
	"io"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

func TestPeerGoneText(t *testing.T) {
	for want, gone := range map[string]conn.PeerGone{
		"conn: peer gone": {ExitCode: -1},
		"conn: peer gone: unexpected EOF": {
			ExitCode: -1, Err: io.ErrUnexpectedEOF,
		},
		"conn: peer gone: server exited with code 0: EOF": {
			Command: "server", Err: io.EOF,
		},
		"conn: peer gone: server exited with code 7: EOF; stderr ends: out of luck": {
			Command: "server", ExitCode: 7, Err: io.EOF, StderrTail: []byte("starting\nout of luck\r\n\n"),
		},
		"conn: peer gone: server killed by SIGKILL: EOF": {
			Command: "server", ExitCode: -1, Signal: "SIGKILL", Err: io.EOF, StderrTail: []byte("\n \n"),
		},
		"conn: peer gone: server closed its output and lives on: EOF; stderr ends: hm": {
			Command: "server", ExitCode: -1, Err: io.EOF, StderrTail: []byte("hm"),
		},
	} {
		require.EqualError(t, &gone, want)
	}
}

func TestPeerGoneUnwraps(t *testing.T) {
	broken := errors.New("broken")
	require.ErrorIs(t, &conn.PeerGone{Err: broken}, broken)
	require.ErrorIs(t, &conn.PeerGone{}, io.EOF)
}

func TestSpawnErrorText(t *testing.T) {
	err := &conn.SpawnError{Command: "npx", Args: []string{"-y", "server"}, Err: exec.ErrNotFound}
	require.EqualError(t, err, `conn: cannot start "npx -y server": executable file not found in $PATH`)
}
