package echo_test

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
)

func TestPipeCarriesMoreThanItHolds(t *testing.T) {
	a, b := echo.Pipe()
	sent := make([]byte, 3<<20+7)
	for i := range sent {
		sent[i] = byte(i * 7)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for rest := sent; len(rest) > 0; {
			n, err := a.Write(rest[:min(len(rest), 100_001)])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, a.Close())
	})
	got, err := io.ReadAll(b)
	wg.Wait()
	require.NoError(t, err)
	require.True(t, bytes.Equal(sent, got))
}

func TestPipeClose(t *testing.T) {
	a, b := echo.Pipe()
	_, err := a.Write([]byte("last words"))
	require.NoError(t, err)
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())

	p := make([]byte, 64)
	n, err := b.Read(p)
	require.NoError(t, err)
	require.Equal(t, "last words", string(p[:n]))
	_, err = b.Read(p)
	require.ErrorIs(t, err, io.EOF)
	_, err = b.Write(p)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	_, err = a.Read(p)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestPipeCloseEndsAWaitingWrite(t *testing.T) {
	a, b := echo.Pipe()
	failed := make(chan error)
	go func() {
		_, err := a.Write(make([]byte, 1<<20))
		failed <- err
	}()
	require.NoError(t, b.Close())
	require.ErrorIs(t, <-failed, io.ErrClosedPipe)
}

func TestPipeTryWriteTakesWhatFits(t *testing.T) {
	a, b := echo.Pipe()
	try := a.(interface{ TryWrite(p []byte) (int, error) })
	long := bytes.Repeat([]byte("0123456789"), 100<<10)
	n, err := try.TryWrite(long)
	require.NoError(t, err)
	require.Equal(t, 256<<10, n)
	n, err = try.TryWrite(long)
	require.NoError(t, err)
	require.Zero(t, n)
	got := make([]byte, 1000)
	_, err = io.ReadFull(b, got)
	require.NoError(t, err)
	n, err = try.TryWrite(long[256<<10:])
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	rest := make([]byte, 256<<10)
	_, err = io.ReadFull(b, rest)
	require.NoError(t, err)
	require.True(t, bytes.Equal(long[:257<<10-24], append(got, rest...)))
	require.NoError(t, b.Close())
	_, err = try.TryWrite(long)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}
