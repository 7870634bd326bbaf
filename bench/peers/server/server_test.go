package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/server"
	"github.com/correlator-go/correlator/internal/echo"
)

// start serves one end of a pipe and returns the other. split makes the server
// read a byte at a time.
func start(t *testing.T, name string, dropping, split bool) io.ReadWriteCloser {
	t.Helper()
	serve, err := server.Get(name, dropping)
	require.NoError(t, err)
	near, far := echo.Pipe()
	var stream io.ReadWriteCloser = far
	if split {
		stream = struct {
			io.Reader
			io.WriteCloser
		}{iotest.OneByteReader(far), far}
	}
	ended := make(chan error, 1)
	go func() { ended <- serve(stream) }()
	t.Cleanup(func() {
		require.NoError(t, near.Close())
		require.NoError(t, <-ended)
	})
	return near
}

// What goes in and must come out, byte for byte.
var exchanges = []struct{ server, in, out string }{
	{server.Lines, `{"jsonrpc":"2.0","id":7,"method":"echo","params":"xy"}` + "\n", `{"jsonrpc":"2.0","id":7,"result":"xy"}` + "\n"},
	{server.MCP, `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"message":"xy"}}}` + "\n",
		`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"xy"}]}}` + "\n"},
	{server.MCP, `{"jsonrpc":"2.0","id":1,"method":"server/discover"}` + "\n", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}` + "\n"},
	{server.RPC1, `{"method":"echo","params":["],\"id\":5}"],"id":6}` + "\n", `{"id":6,"result":"],\"id\":5}","error":null}` + "\n"},
	{server.RESP, "*2\r\n$4\r\nECHO\r\n$2\r\nxy\r\n*1\r\n$4\r\nPING\r\n*2\r\n$6\r\nCLIENT\r\n$3\r\nany\r\n", "$2\r\nxy\r\n+PONG\r\n+OK\r\n"},
	{server.HTTP, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nxy", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nxy"},
}

func TestServersAnswer(t *testing.T) {
	for _, x := range exchanges {
		for _, split := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s split=%v", x.server, split), func(t *testing.T) {
				c := start(t, x.server, false, split)
				for range 2 { // the second in a burst with itself
					_, err := io.WriteString(c, x.in)
					require.NoError(t, err)
				}
				got := make([]byte, 2*len(x.out))
				_, err := io.ReadFull(c, got)
				require.NoError(t, err)
				require.Equal(t, x.out+x.out, string(got))
			})
		}
	}
}

func TestNATSAnswers(t *testing.T) {
	c := start(t, server.NATS, false, true)
	in := bufio.NewReader(c)
	info, err := in.ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(info, "INFO {"))
	_, err = io.WriteString(c, "CONNECT {}\r\nPING\r\nSUB _INBOX.x.* 9\r\nPUB none 1\r\nz\r\nPUB echo _INBOX.x.1 2\r\nxy\r\n")
	require.NoError(t, err)
	got := make([]byte, len("PONG\r\nMSG _INBOX.x.1 9 2\r\nxy\r\n"))
	_, err = io.ReadFull(in, got)
	require.NoError(t, err)
	require.Equal(t, "PONG\r\nMSG _INBOX.x.1 9 2\r\nxy\r\n", string(got))
}

// A server that is spoken to in another tongue says so instead of hanging.
func TestServersRefuseNonsense(t *testing.T) {
	for _, name := range []string{server.MCP, server.RPC1, server.RESP, server.HTTP} {
		serve, err := server.Get(name, false)
		require.NoError(t, err)
		near, far := echo.Pipe()
		_, err = io.WriteString(near, "nonsense\r\n\r\n")
		require.NoError(t, err)
		require.ErrorContains(t, serve(far), "nonsense", name)
	}
}

func TestDroppingLeavesStuckCallsOut(t *testing.T) {
	for _, split := range []bool{false, true} {
		c := start(t, server.Lines, true, split)
		line := func(id int, method string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":"%s"}`+"\n", id, method, strings.Repeat("x", 500))
		}
		_, err := io.WriteString(c, line(1, server.Stuck)+line(2, server.Method)+line(3, server.Stuck)+line(4, server.Method))
		require.NoError(t, err)
		in := bufio.NewReader(c)
		for _, id := range []string{`"id":2,`, `"id":4,`} {
			text, err := in.ReadString('\n')
			require.NoError(t, err)
			require.Contains(t, text, id)
		}
	}
}

// A reader with little room gets every byte all the same.
func TestDroppingKeepsLongLines(t *testing.T) {
	text := strings.Repeat("x", 5000) + "\n"
	d := server.Dropping(struct {
		io.Reader
		io.WriteCloser
	}{strings.NewReader(text + `"stuck"` + "\n" + text), nil})
	var got bytes.Buffer
	_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{d}, make([]byte, 7))
	require.NoError(t, err)
	require.Equal(t, text+text, got.String())
}

func TestGet(t *testing.T) {
	_, err := server.Get("nobody", false)
	require.ErrorContains(t, err, "nobody")
	_, err = server.Get(server.GRPC, true)
	require.ErrorContains(t, err, server.GRPC)
}

func TestListen(t *testing.T) {
	in, end := io.Pipe()
	serve, err := server.Get(server.Lines, false)
	require.NoError(t, err)
	where := make(chan server.Addresses, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- server.Listen(serve, in, func(a server.Addresses) error { where <- a; return nil })
	}()
	a := <-where
	before, err := server.Cost(a.Cost)
	require.NoError(t, err)
	require.Positive(t, before.Allocs)
	for network, address := range map[string]string{"unix": a.Unix, "tcp": a.TCP} {
		c, err := net.Dial(network, address)
		require.NoError(t, err)
		_, err = io.WriteString(c, exchanges[0].in)
		require.NoError(t, err)
		text, err := bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, exchanges[0].out, text)
		require.NoError(t, c.Close())
	}
	after, err := server.Cost(a.Cost)
	require.NoError(t, err)
	require.Greater(t, after.Allocs, before.Allocs)
	require.GreaterOrEqual(t, after.CPU, before.CPU)
	_, err = server.Cost(a.Unix + " is not there")
	require.Error(t, err)
	require.NoError(t, end.Close())
	require.NoError(t, <-ended)
}
