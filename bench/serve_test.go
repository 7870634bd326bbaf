package bench

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportRole(t *testing.T) {
	v, err := reportRole(nil)
	require.NoError(t, err)
	require.Positive(t, v["parks"])
	require.Positive(t, v["ns"])
}

// Callers are answered whatever else a server has to put up with.
func TestNeighboursRole(t *testing.T) {
	in, end := io.Pipe()
	line, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- serveTools(in, out) }()
	var addresses string
	_, err := fmt.Fscanln(line, &addresses)
	require.NoError(t, err)
	stream, web, _ := strings.Cut(addresses, ",")

	hold, release := io.Pipe()
	said, say := io.Pipe()
	attacked := make(chan error, 1)
	go func() { attacked <- attack(stream, web, hold, say) }()
	var word string
	_, err = fmt.Fscanln(said, &word)
	require.NoError(t, err)
	v, err := neighboursRole([]string{stream})
	require.NoError(t, err)
	require.Positive(t, v["p99"])
	require.NoError(t, release.Close())
	require.NoError(t, <-attacked)
	require.NoError(t, end.Close())
	require.NoError(t, <-served)

	_, err = neighboursRole(nil)
	require.Error(t, err)
	_, err = hostileRole(nil)
	require.Error(t, err)
}
