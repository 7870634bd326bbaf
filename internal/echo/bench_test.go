package echo_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
)

// BenchmarkServe is the cost of one message at the echo server and in the pipe,
// in bursts of 256 requests of 100-byte params.
func BenchmarkServe(b *testing.B) {
	client, server := echo.Pipe()
	go func() { _ = echo.Serve(server, echo.Options{}) }()
	defer client.Close()
	const burst = 256
	frame := []byte(`{"jsonrpc":"2.0","id":4503599627370495,"method":"echo","params":{"data":"` + string(bytes.Repeat([]byte("x"), 89)) + `"}}` + "\n")
	input := bytes.Repeat(frame, burst)
	p := make([]byte, 128<<10)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for n := 0; n < b.N; n += burst {
		_, err := client.Write(input)
		require.NoError(b, err)
		for lines := 0; lines < burst; {
			n, err := client.Read(p)
			require.NoError(b, err)
			lines += bytes.Count(p[:n], []byte{'\n'})
		}
	}
}
