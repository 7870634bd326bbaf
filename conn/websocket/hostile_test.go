package websocket_test

import (
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
)

// speaks is a server that shakes hands, hears one frame, says bytes of its own and
// falls silent.
func speaks(t *testing.T, bytes string) string {
	t.Helper()
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		c, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		_, _ = fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
			base64.StdEncoding.EncodeToString(sum[:]))
		if _, err := in.ReadByte(); err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(c, bytes)
		_, _ = io.Copy(io.Discard, in)
	}))
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	return address(server)
}

// A length is announced in 64 bits, and then nothing comes. What no length can be, or
// is above all limits, ends the link, and all its calls at once. What one can be buys no
// memory; calls keep their deadlines, and a link that pings learns that nobody answers.
func TestC11HostileLength(t *testing.T) {
	for name, c := range map[string]struct {
		bytes string
		want  error // nil is one of the library below: no length is negative
	}{
		"2^63-1":             {"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", websocket.ErrReadLimit},
		"2^63-1, and a byte": {"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff{", websocket.ErrReadLimit},
		"2^63":               {"\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00", nil},
		"2^64-1":             {"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", nil},
		"2^32+1":             {"\x81\x7f\x00\x00\x00\x01\x00\x00\x00\x01", websocket.ErrReadLimit},
		"after a ping":       {"\x89\x02hi\x81\x7f\x00\x00\x00\x01\x00\x00\x00\x01", websocket.ErrReadLimit},
		"2^32":               {"\x81\x7f\x00\x00\x00\x01\x00\x00\x00\x00", websocket.ErrNoPong},
	} {
		t.Run(name, func(t *testing.T) {
			nothingLeft(t)
			o := websocket.DialOptions{Options: websocket.Options{CloseTimeout: -1}}
			if c.want == websocket.ErrNoPong {
				o.Ping, o.PingTimeout = 20*time.Millisecond, 20*time.Millisecond
			}
			_, link := connect(t, speaks(t, c.bytes), o, conn.Options{})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := link.Call(background, "m", nil, conn.CallOptions{Timeout: conn.NoTimeout})
			require.ErrorIs(t, err, conn.ErrClosed)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
			require.Equal(t, c.want == websocket.ErrNoPong, errors.Is(err, websocket.ErrNoPong))
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "nothing is made for what was announced")
			<-link.Done()
		})
	}
}

// The same from a client, which masks its frames, at a server; it is told why.
func TestC11HostileLengthAtAServer(t *testing.T) {
	nothingLeft(t)
	server, conns := serving(t, httptest.NewServer, websocket.AcceptOptions{}, conn.Options{})
	peer, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = peer.Close() }()
	// The first frame comes with the handshake, so that it lies in the server's buffer.
	_, err = io.WriteString(peer, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"+"\x81\x82\x00\x00\x00\x00{}"+"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00")
	require.NoError(t, err)
	link := <-conns
	_, err = link.Call(background, "m", nil, conn.CallOptions{Timeout: conn.NoTimeout})
	require.ErrorIs(t, err, conn.ErrClosed)
	require.ErrorIs(t, err, websocket.ErrReadLimit)
	<-link.Done()
	said, err := io.ReadAll(peer)
	require.NoError(t, err)
	require.Contains(t, string(said), "\x88\x02\x03\xf1", "status 1009")
}

func TestC11DeadlinesHoldBehindAHostileLength(t *testing.T) {
	nothingLeft(t)
	_, link := connect(t, speaks(t, "\x81\x7f\x00\x00\x00\x00\x7f\xff\xff\xff"), // 2 GiB, which may come
		websocket.DialOptions{Options: websocket.Options{CloseTimeout: -1}}, conn.Options{CloseTimeout: -1})
	_, err := link.Call(background, "m", nil, conn.CallOptions{Timeout: 20 * time.Millisecond})
	require.ErrorIs(t, err, conn.ErrTimeout)
	require.NoError(t, link.Err())
}
