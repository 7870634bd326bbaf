package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
)

// strained is a listener whose Accept gives what it is told.
type strained struct {
	net.Listener
	accepts chan any
}

func (l *strained) Accept() (net.Conn, error) {
	switch x := (<-l.accepts).(type) {
	case net.Conn:
		return x, nil
	default:
		return nil, x.(error)
	}
}

// More connections than there are files for end none of those that there are; a
// listener that fails ends all, and the server with them.
func TestServerSurvivesAFullTable(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &strained{socket, make(chan any)}
	served := make(chan error, 1)
	go func() { served <- serveSocket(t.Context(), l, echo.Options{}, io.Discard, io.Discard) }()
	ask := func(peer net.Conn, id int) {
		_, err := fmt.Fprintf(peer, `{"jsonrpc":"2.0","id":%d,"method":"echo"}`+"\n", id)
		require.NoError(t, err)
		line, err := bufio.NewReader(peer).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, fmt.Sprintf(`"id":%d`, id))
	}
	first, theirs := net.Pipe()
	l.accepts <- theirs
	ask(first, 1)
	l.accepts <- &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	second, theirs := net.Pipe()
	l.accepts <- theirs
	ask(first, 2)
	ask(second, 3)
	broken := errors.New("broken")
	l.accepts <- broken
	require.ErrorIs(t, <-served, broken)
	_, err = first.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}
