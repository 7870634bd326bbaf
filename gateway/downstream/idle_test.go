package downstream_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/internal/invariants"
)

// idleMost is what a client that says nothing may cost, in bytes.
const idleMost = 20 << 10

// used is the memory in use by the heap and by stacks.
func used() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// idle opens clients and gives what each costs, the test's own side included.
func idle(t *testing.T, clients int, open func() io.Closer) int64 {
	t.Helper()
	all := make([]io.Closer, clients)
	warm := open()
	base := used()
	for i := range all {
		all[i] = open()
	}
	each := (used() - base) / int64(clients)
	for _, c := range append(all, warm) {
		require.NoError(t, c.Close())
	}
	return each
}

// Clients that have said hello and say nothing more cost little.
func TestIdleClients(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("memory differs under the race detector and with invariants")
	}
	const clients = 1000
	t.Run("unix", func(t *testing.T) {
		w := shared(t)
		path := filepath.Join(t.TempDir(), "s")
		l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- downstream.Listen(ctx, w.g, l, downstream.Options{}) }()
		each := idle(t, clients, func() io.Closer {
			c, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
			require.NoError(t, err)
			_, err = io.WriteString(c, hello+"\n")
			require.NoError(t, err)
			_, err = bufio.NewReaderSize(c, 512).ReadSlice('\n')
			require.NoError(t, err)
			return c
		})
		stop()
		<-over
		t.Logf("%d bytes", each)
		require.Less(t, each, int64(idleMost))
	})
	t.Run("websocket", func(t *testing.T) {
		w := shared(t)
		each := idle(t, clients, func() io.Closer {
			c := w.dialed()
			_, err := io.WriteString(c, "GET /mcp HTTP/1.1\r\nHost: "+w.address+"\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
			require.NoError(t, err)
			r, err := http.ReadResponse(bufio.NewReaderSize(c, 512), nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusSwitchingProtocols, r.StatusCode)
			return c
		})
		t.Logf("%d bytes", each)
		require.Less(t, each, int64(idleMost))
	})
	t.Run("session", func(t *testing.T) {
		w := shared(t)
		each := idle(t, clients, func() io.Closer {
			id := w.session()
			return closer(func() error {
				r := w.do(http.MethodDelete, "", "Mcp-Session-Id", id)
				return r.Body.Close()
			})
		})
		t.Logf("%d bytes", each)
		require.Less(t, each, int64(idleMost))
	})
	t.Run("listening", func(t *testing.T) {
		w := shared(t)
		each := idle(t, clients, func() io.Closer {
			id := w.session()
			c := w.dialed()
			_, err := io.WriteString(c, "GET /mcp HTTP/1.1\r\nHost: "+w.address+"\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+id+"\r\n\r\n")
			require.NoError(t, err)
			line, err := bufio.NewReaderSize(c, 512).ReadSlice('\n')
			require.NoError(t, err)
			require.Equal(t, "HTTP/1.1 200 OK\r\n", string(line))
			return c
		})
		t.Logf("%d bytes", each)
		require.Less(t, each, int64(idleMost))
	})
}

type closer func() error

func (c closer) Close() error { return c() }
