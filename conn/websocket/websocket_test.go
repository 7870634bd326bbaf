package websocket_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	ws "github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
)

var background = context.Background()

// nothingLeft checks at the end of the test that no goroutine is left.
func nothingLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(deadline) {
				buf := make([]byte, 1<<20)
				require.Fail(t, "goroutines left", "%s", buf[:runtime.Stack(buf, true)])
			}
		}
	})
}

var echoes = conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) { _ = r.Reply(r.Params()) })

// serving is a server whose connections are given out on the channel.
func serving(t *testing.T, start func(http.Handler) *httptest.Server, o websocket.AcceptOptions, co conn.Options) (*httptest.Server, <-chan *conn.Conn) {
	conns := make(chan *conn.Conn, 16)
	server := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := websocket.Accept(w, r, o)
		if err != nil {
			return
		}
		c, err := s.Conn(co)
		if err != nil {
			t.Error(err)
			return
		}
		conns <- c
		<-c.Done()
	}))
	t.Cleanup(server.Close)
	return server, conns
}

func address(s *httptest.Server) string { return "ws" + strings.TrimPrefix(s.URL, "http") }

// connect dials and makes a connection, which ends with the test.
func connect(t *testing.T, url string, o websocket.DialOptions, co conn.Options) (*websocket.Stream, *conn.Conn) {
	t.Helper()
	s, err := websocket.Dial(background, url, o)
	require.NoError(t, err)
	c, err := s.Conn(co)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		<-c.Done()
	})
	return s, c
}

func works(t *testing.T, c *conn.Conn) {
	t.Helper()
	got, err := c.Call(background, "echo", []byte(`"works"`), conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, `"works"`, string(got))
}

func TestCallsGoBothWays(t *testing.T) {
	nothingLeft(t)
	for _, compress := range []bool{false, true} {
		o := websocket.Options{Compress: compress}
		server, conns := serving(t, httptest.NewServer, websocket.AcceptOptions{Options: o}, conn.Options{Handler: echoes})
		_, c := connect(t, address(server), websocket.DialOptions{Options: o}, conn.Options{Handler: echoes})
		far := <-conns
		var wg sync.WaitGroup
		for _, from := range []*conn.Conn{c, far} {
			for i := range 8 {
				wg.Go(func() {
					for n := range 100 {
						want := `{"n":"` + strings.Repeat("é", i*n*20) + "\",\n\"pretty\":\r\n true}"
						got, err := from.Call(background, "echo", []byte(want), conn.CallOptions{})
						if err != nil || string(got) != want {
							t.Errorf("%d bytes: %d came back, %v", len(want), len(got), err)
						}
					}
				})
			}
		}
		wg.Wait()
		big := []byte(`"` + strings.Repeat("x", 5<<20) + `"`)
		got, err := c.Call(background, "echo", big, conn.CallOptions{})
		require.NoError(t, err)
		require.True(t, bytes.Equal(big, got))
		require.NoError(t, c.Close())
		<-c.Done()
		<-far.Done()
		require.ErrorIs(t, far.Err(), io.EOF, "an orderly end")
	}
}

func TestManyMessagesLeaveInOneWrite(t *testing.T) {
	server, _ := serving(t, httptest.NewServer, websocket.AcceptOptions{}, conn.Options{Handler: echoes})
	writes := make(chan int, 1024)
	_, c := connect(t, address(server), websocket.DialOptions{NetDial: func(ctx context.Context, network, address string) (net.Conn, error) {
		under, err := new(net.Dialer).DialContext(ctx, network, address)
		return counting{under, writes}, err
	}}, conn.Options{})
	<-writes // the handshake
	requests := make([]conn.Request, 200)
	var left sync.WaitGroup
	left.Add(len(requests))
	for i := range requests {
		requests[i] = conn.Request{Method: "m", Params: []byte(`[]`), Notify: func(conn.Outcome) { left.Done() }}
	}
	_, err := c.Submit(background, requests)
	require.NoError(t, err)
	left.Wait()
	require.Less(t, len(writes), 5, "one, and a few control frames at most")
}

type counting struct {
	net.Conn
	writes chan int
}

func (c counting) Write(p []byte) (int, error) {
	c.writes <- len(p)
	return c.Conn.Write(p)
}

func TestSecureWithHeaderAndSubprotocol(t *testing.T) {
	nothingLeft(t)
	header := make(chan http.Header, 1)
	server, _ := serving(t, func(h http.Handler) *httptest.Server {
		return httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			header <- r.Header
			h.ServeHTTP(w, r)
		}))
	}, websocket.AcceptOptions{Subprotocols: []string{"other", "mcp"}}, conn.Options{Handler: echoes})
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s, c := connect(t, address(server), websocket.DialOptions{
		TLS: &tls.Config{RootCAs: roots}, Header: http.Header{"Authorization": {"Bearer x"}}, Subprotocols: []string{"mcp"},
	}, conn.Options{})
	require.Equal(t, "Bearer x", (<-header).Get("Authorization"))
	require.Equal(t, "mcp", s.Subprotocol())
	works(t, c)

	_, err := websocket.Dial(background, address(server), websocket.DialOptions{})
	refused, ok := errors.AsType[*websocket.HandshakeError](err)
	require.True(t, ok)
	require.Zero(t, refused.Status)
	_, ok = errors.AsType[*tls.CertificateVerificationError](err)
	require.True(t, ok, "%v", err)
}

func TestRefusedHandshakes(t *testing.T) {
	nothingLeft(t)
	server, _ := serving(t, httptest.NewServer, websocket.AcceptOptions{}, conn.Options{})
	_, err := websocket.Dial(background, address(server), websocket.DialOptions{Header: http.Header{"Origin": {"https://evil.example"}}})
	refused, ok := errors.AsType[*websocket.HandshakeError](err)
	require.True(t, ok)
	require.Equal(t, http.StatusForbidden, refused.Status)
	require.Contains(t, err.Error(), "403")

	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	_, err = websocket.Dial(background, address(plain), websocket.DialOptions{})
	refused, ok = errors.AsType[*websocket.HandshakeError](err)
	require.True(t, ok)
	require.Equal(t, http.StatusNotFound, refused.Status)
	require.Contains(t, string(refused.Body), "404 page not found")

	answer, err := http.Get(server.URL)
	require.NoError(t, err)
	require.Equal(t, http.StatusUpgradeRequired, answer.StatusCode)
	_ = answer.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()

	for _, o := range []websocket.AcceptOptions{{Origins: []string{"*.example"}}, {AnyOrigin: true}} {
		open, _ := serving(t, httptest.NewServer, o, conn.Options{Handler: echoes})
		_, c := connect(t, address(open), websocket.DialOptions{Header: http.Header{"Origin": {"https://good.example"}}}, conn.Options{})
		works(t, c)
	}
}

func TestCloseCodes(t *testing.T) {
	nothingLeft(t)
	for _, test := range []struct {
		code    int
		reason  string
		want    int
		orderly bool
	}{
		{websocket.StatusNormal, "", websocket.StatusNormal, true},
		{websocket.StatusGoingAway, "bye", websocket.StatusGoingAway, true},
		{4000, "mine", 4000, false},
		{websocket.StatusNone, "", websocket.StatusInternalError, false},
		{1000, strings.Repeat("x", 124), websocket.StatusInternalError, false},
	} {
		server, conns := serving(t, httptest.NewServer, websocket.AcceptOptions{}, conn.Options{Handler: echoes})
		s, c := connect(t, address(server), websocket.DialOptions{}, conn.Options{})
		works(t, c)
		s.CloseWith(test.code, test.reason)
		require.NoError(t, c.Close())
		<-c.Done()
		far := <-conns
		<-far.Done()
		if test.orderly {
			require.ErrorIs(t, far.Err(), io.EOF)
			continue
		}
		closed, ok := errors.AsType[*websocket.CloseError](far.Err())
		require.True(t, ok, "%v", far.Err())
		require.Equal(t, test.want, closed.Code)
		require.NotErrorIs(t, far.Err(), io.EOF)
	}
}

func TestLinkThatIsCut(t *testing.T) {
	nothingLeft(t)
	var under net.Conn
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		var err error
		under, err = new(net.Dialer).DialContext(ctx, network, address)
		return under, err
	}
	server, conns := serving(t, httptest.NewServer, websocket.AcceptOptions{}, conn.Options{Handler: echoes})
	_, c := connect(t, address(server), websocket.DialOptions{NetDial: dial}, conn.Options{})
	works(t, c)
	require.NoError(t, under.Close())
	far := <-conns
	<-far.Done()
	require.ErrorIs(t, far.Err(), io.ErrUnexpectedEOF)
	<-c.Done()

	// Inside a message: what came of it is no message.
	_, c = connect(t, address(server), websocket.DialOptions{NetDial: dial}, conn.Options{})
	works(t, c)
	_, err := under.Write([]byte{0x81, 0x80 | 20, 0, 0, 0, 0, '{', '}'}) // 2 bytes of 20
	require.NoError(t, err)
	require.NoError(t, under.Close())
	far = <-conns
	<-far.Done()
	require.ErrorIs(t, far.Err(), io.ErrUnexpectedEOF)
	require.Zero(t, far.Stats().Unreadable)
}

// hand is a peer played by the test: a bare WebSocket on the server's side.
func hand(t *testing.T, play func(*ws.Conn)) string {
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		socket, err := ws.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = socket.CloseNow() }()
		socket.SetReadLimit(-1)
		play(socket)
	}))
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	return address(server)
}

func TestOddMessages(t *testing.T) {
	nothingLeft(t)
	url := hand(t, func(socket *ws.Conn) {
		say := func(typ ws.MessageType, text string) {
			if err := socket.Write(background, typ, []byte(text)); err != nil {
				t.Error(err)
			}
		}
		say(ws.MessageText, "")
		say(ws.MessageText, "Hello")
		say(ws.MessageText, "{\"jsonrpc\":\"2.0\",\"id\":1,\xff\"result\":1}")
		say(ws.MessageBinary, `{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		for range 2 {
			_, text, err := socket.Read(background)
			if err != nil {
				t.Error(err)
				return
			}
			if bytes.Contains(text, []byte("method")) {
				id, _ := codec.PeekID(text, codec.MCP)
				say(ws.MessageText, `{"jsonrpc":"2.0","id":`+id.Text()+`,"result":"`+string(bytes.Repeat([]byte("?"), bytes.Count(text, []byte("?"))))+`"}`)
			}
		}
		_, _, _ = socket.Read(background)
	})
	_, c := connect(t, url, websocket.DialOptions{}, conn.Options{})
	got, err := c.Call(background, "m", []byte("\"\xffa\xc3\""), conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, `"??"`, string(got), "what is no text goes out as question marks")
	require.EqualValues(t, 2, c.Stats().Unreadable)
	require.NoError(t, c.Err())
}

func TestPingThatIsNotAnswered(t *testing.T) {
	nothingLeft(t)
	over := make(chan struct{})
	url := hand(t, func(*ws.Conn) { <-over }) // reads nothing, so answers nothing
	_, c := connect(t, url, websocket.DialOptions{Options: websocket.Options{Ping: 5 * time.Millisecond, PingTimeout: 20 * time.Millisecond}}, conn.Options{})
	_, err := c.Call(background, "m", nil, conn.CallOptions{Timeout: conn.NoTimeout})
	require.ErrorIs(t, err, conn.ErrClosed)
	require.ErrorIs(t, err, websocket.ErrNoPong)
	close(over)
}

func TestCloseDoesNotWaitForAMutePeer(t *testing.T) {
	nothingLeft(t)
	over := make(chan struct{})
	url := hand(t, func(*ws.Conn) { <-over })
	_, c := connect(t, url, websocket.DialOptions{Options: websocket.Options{CloseTimeout: 20 * time.Millisecond}}, conn.Options{CloseTimeout: -1})
	began := time.Now()
	require.NoError(t, c.Close())
	<-c.Done()
	require.Less(t, time.Since(began), 4*time.Second, "not the five seconds of the library")
	close(over)
}
