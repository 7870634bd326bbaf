package rival_test

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/rival"
)

func TestByteCopy(t *testing.T) {
	client, near := net.Pipe()
	far, server := net.Pipe()
	over := make(chan struct{})
	go func() {
		rival.ByteCopy(near, far)
		close(over)
	}()
	go func() { _, _ = io.WriteString(client, "there") }()
	got := make([]byte, 5)
	_, err := io.ReadFull(server, got)
	require.NoError(t, err)
	require.Equal(t, "there", string(got))
	go func() { _, _ = io.WriteString(server, "back!") }()
	_, err = io.ReadFull(client, got)
	require.NoError(t, err)
	require.Equal(t, "back!", string(got))
	require.NoError(t, client.Close())
	<-over
	_, err = server.Read(got)
	require.ErrorIs(t, err, io.EOF)
}
