package websocket_test

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
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

// A length is announced in 64 bits, and then nothing comes. What no length can be
// ends the link, and all its calls at once. What one can be buys no memory; calls
// keep their deadlines, and a link that pings learns that nobody answers.
func TestC11HostileLength(t *testing.T) {
	for name, c := range map[string]struct {
		bytes string
		legal bool
	}{
		"2^63-1":             {"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", true},
		"2^63-1, and a byte": {"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff{", true},
		"2^40":               {"\x81\x7f\x00\x00\x01\x00\x00\x00\x00\x00", true},
		"2^63":               {"\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00", false},
		"2^64-1":             {"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", false},
	} {
		t.Run(name, func(t *testing.T) {
			nothingLeft(t)
			o := websocket.DialOptions{Options: websocket.Options{CloseTimeout: -1}}
			if c.legal {
				o.Ping, o.PingTimeout = 20*time.Millisecond, 20*time.Millisecond
			}
			_, link := connect(t, speaks(t, c.bytes), o, conn.Options{})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := link.Call(background, "m", nil, conn.CallOptions{Timeout: conn.NoTimeout})
			require.ErrorIs(t, err, conn.ErrClosed)
			if c.legal {
				require.ErrorIs(t, err, websocket.ErrNoPong)
			} else {
				require.NotErrorIs(t, err, websocket.ErrNoPong)
			}
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "nothing is made for what was announced")
			<-link.Done()
		})
	}
}

func TestC11DeadlinesHoldBehindAHostileLength(t *testing.T) {
	nothingLeft(t)
	_, link := connect(t, speaks(t, "\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"),
		websocket.DialOptions{Options: websocket.Options{CloseTimeout: -1}}, conn.Options{CloseTimeout: -1})
	_, err := link.Call(background, "m", nil, conn.CallOptions{Timeout: 20 * time.Millisecond})
	require.ErrorIs(t, err, conn.ErrTimeout)
	require.NoError(t, link.Err())
}
