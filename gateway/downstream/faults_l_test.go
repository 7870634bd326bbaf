package downstream_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// L14: a client that has subscribed stops reading. Letting go of it waits for nobody: its
// calls are cancelled upstream, its session is gone, and the listener ends.
func TestL14DeadPeer(t *testing.T) {
	for _, transport := range []string{"websocket", "http"} {
		t.Run(transport, func(t *testing.T) {
			w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, downstream.HTTPOptions{}, downstream.ServerOptions{EndTimeout: 100 * time.Millisecond})
			listenRequest := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`
			var c net.Conn
			switch transport {
			case "http":
				c = w.dialed()
				_, err := io.WriteString(c, post(w.address, listenRequest))
				require.NoError(t, err)
			case "websocket":
				c = w.dialed()
				_, err := io.WriteString(c, "GET /mcp HTTP/1.1\r\nHost: "+w.address+"\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
				require.NoError(t, err)
				status := make([]byte, len("HTTP/1.1 101"))
				_, err = io.ReadFull(c, status)
				require.NoError(t, err)
				require.Equal(t, "HTTP/1.1 101", string(status))
				mask := []byte{0x81, 0x80 | byte(len(listenRequest)), 0, 0, 0, 0}
				_, err = c.Write(append(mask, listenRequest...))
				require.NoError(t, err)
			}
			way := w.server.Way(0)
			number, _ := way.NextRequest()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = w.endpoint.Close()
			}()
			select {
			case <-ended:
			case <-time.After(waitFor):
				t.Fatal("the end waits for a peer that reads nothing")
			}
			require.Zero(t, w.g.Stats().InFlight)
			require.Eventually(t, func() bool { return len(way.Cancels()) == 1 }, waitFor, tick)
			require.Equal(t, number, itoa(way.Cancels()[0].Call))
			require.NoError(t, c.Close())
		})
	}
}

// On a stream whose peer takes nothing, an answer stays in the middle of being written:
// the end gives it a second.
func TestL14DeadStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Server{Answers: true}
		g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "fake", Opener: server, Isolation: gateway.Shared}}})
		require.NoError(t, err)
		ours, theirs := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- downstream.Serve(context.Background(), g, theirs, "unix", downstream.Options{}) }()
		_, err = io.WriteString(ours, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`+"\n")
		require.NoError(t, err)
		synctest.Wait()
		require.EqualValues(t, 1, g.Stats().Answered)
		began := time.Now()
		require.NoError(t, g.Close())
		<-served
		require.LessOrEqual(t, time.Since(began), time.Second)
		require.Zero(t, g.Stats().Sessions)
		require.NoError(t, ours.Close())
	})
}

// post is a request of the modern era as it goes over the wire.
func post(host, body string) string {
	body = strings.Replace(body, `"name":"x"`, `"name":"x",`+metaModern, 1)
	return "POST /mcp HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: x\r\nContent-Length: " + itoa(int64(len(body))) + "\r\n\r\n" + body
}

// Pings from both sides every millisecond, 16 goroutines that call, and a close in the
// middle: nothing panics, every call ends, and pings do not starve.
func TestL13PingsBesideData(t *testing.T) {
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
		Name: "echo", Plain: true, Isolation: gateway.Shared, Opener: upstream.Dial("unix", listen(t, echoServer), conn.Options{}),
	}}})
	require.NoError(t, err)
	defer func() { _ = g.Close() }()
	e, err := downstream.NewEndpoint(g, downstream.HTTPOptions{WebSocket: downstream.WebSocketOptions{Ping: time.Millisecond}})
	require.NoError(t, err)
	l, err := downstream.Bind(t.Context(), "127.0.0.1:0", false)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- downstream.ServeHTTP(ctx, l, e, downstream.ServerOptions{}, e.Close) }()
	// A pong late by a second on a loaded machine is no fault of the link's.
	s, err := websocket.Dial(t.Context(), "ws://"+l.Addr().String(), websocket.DialOptions{Options: websocket.Options{Ping: time.Millisecond, PingTimeout: waitFor}})
	require.NoError(t, err)
	c, err := s.Conn(conn.Options{})
	require.NoError(t, err)
	var all sync.WaitGroup
	half := make(chan struct{})
	var once sync.Once
	for range 16 {
		all.Go(func() {
			for n := range 200 {
				_, err := c.Call(t.Context(), "echo", []byte(`{"pad":"0123456789"}`), conn.CallOptions{})
				if n == 100 {
					once.Do(func() { close(half) })
				}
				if err != nil {
					return // it was closed
				}
			}
		})
	}
	select {
	case <-half:
	case <-c.Done():
		t.Error("the link was given up")
	}
	require.NoError(t, c.Close())
	all.Wait()
	stop()
	<-served
	require.Zero(t, g.Stats().InFlight)
	require.Zero(t, g.Stats().Panics)
}
