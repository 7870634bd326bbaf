package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// wireTo makes a wire to a server of f.
func wireTo(t *testing.T, o client.WireOptions, f http.HandlerFunc) *client.Wire {
	t.Helper()
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	w, err := client.NewWire(client.HTTP{Endpoint: web.URL, ResumeDelay: -1}, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, w.Close())
		noGoroutines(t)
	})
	return w
}

// A modern request says in its headers what it is, and which revision it is of, even
// if that is not the wire's.
func TestWireDescribesModernRequests(t *testing.T) {
	seen := make(chan http.Header, 1)
	w := wireTo(t, client.WireOptions{}, func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Clone()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":{"odd" : 1e2}}`)
	})
	var got string
	p := &client.Posting{
		Method: mcp.MethodCallTool, Frame: []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"écho"}}`), Revision: mcp.Modern,
		Headers: []mcp.ParamHeader{{Name: "Mcp-Param-X", Value: "1"}},
		Receive: func(m *codec.Message) bool { got = string(m.Frame()); return true },
	}
	require.NoError(t, w.Exchange(t.Context(), p))
	require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"odd" : 1e2}}`, got)
	h := <-seen
	require.Equal(t, string(mcp.Modern), h.Get("MCP-Protocol-Version"))
	require.Equal(t, "tools/call", h.Get("Mcp-Method"))
	require.Equal(t, mcp.EncodeHeader("écho"), h.Get("Mcp-Name"))
	require.Equal(t, "1", h.Get("Mcp-Param-X"))
	p.Revision = ""
	require.NoError(t, w.Exchange(t.Context(), p))
	h = <-seen
	require.Empty(t, h.Get("MCP-Protocol-Version"))
	require.Empty(t, h.Get("Mcp-Method"))
	w.Adopt(mcp.Modern)
	require.NoError(t, w.Exchange(t.Context(), p))
	require.Equal(t, "tools/call", (<-seen).Get("Mcp-Method"))
}

// The session of the older era is kept, its stream is heard, and its end is told.
func TestWireKeepsSession(t *testing.T) {
	var over atomic.Bool
	stop := make(chan struct{})
	heard, lost := make(chan string, 1), make(chan error, 1)
	w := wireTo(t, client.WireOptions{
		Receive: func(m *codec.Message) { heard <- string(m.Frame()) },
		Lost:    func(err error) { lost <- err },
	}, func(w http.ResponseWriter, r *http.Request) {
		var m message
		switch {
		case r.Method == http.MethodDelete:
		case r.Method == http.MethodGet && over.Load():
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
			require.Equal(t, "s1", r.Header.Get("Mcp-Session-Id"))
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
			_ = http.NewResponseController(w).Flush()
			<-stop
		case json.NewDecoder(r.Body).Decode(&m) != nil:
			w.WriteHeader(http.StatusBadRequest)
		case m.Method == mcp.MethodInitialize:
			w.Header().Set("Mcp-Session-Id", "s1")
			answer(w, m, `{}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	answered := func(m *codec.Message) bool { return m.Kind == codec.KindResult }
	require.NoError(t, w.Exchange(t.Context(), &client.Posting{
		Method: mcp.MethodInitialize, Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`), Receive: answered,
	}))
	require.Equal(t, "s1", w.Session())
	w.Adopt(mcp.NewestLegacy)
	require.NoError(t, w.Post(t.Context(), &client.Posting{
		Method: mcp.NoteInitialized, Frame: codec.AppendNotification(nil, mcp.NoteInitialized, nil),
	}))
	require.Contains(t, <-heard, "list_changed")
	over.Store(true)
	close(stop)
	require.ErrorIs(t, <-lost, client.ErrSessionEnded)
}

// What a refusal says can be had as it came.
func TestWireGivesRefusals(t *testing.T) {
	const body = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad","data":{"n":1.50}}}`
	w := wireTo(t, client.WireOptions{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, body)
	})
	var got string
	p := &client.Posting{Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`), Refused: func(b []byte) bool { got = string(b); return true }}
	require.NoError(t, w.Exchange(t.Context(), p))
	require.Equal(t, body, got)
	p.Refused = nil
	failure, ok := errors.AsType[*codec.Error](w.Exchange(t.Context(), p))
	require.True(t, ok)
	require.EqualValues(t, -32602, failure.Code)
}

// Close ends what is under way, and nothing begins after it.
func TestWireClose(t *testing.T) {
	arrived := make(chan struct{})
	w := wireTo(t, client.WireOptions{}, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	})
	p := &client.Posting{Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`), Receive: func(*codec.Message) bool { return true }}
	failed := make(chan error, 1)
	go func() { failed <- w.Exchange(context.Background(), p) }()
	<-arrived
	require.NoError(t, w.Close())
	require.ErrorIs(t, <-failed, context.Canceled)
	require.ErrorIs(t, w.Exchange(t.Context(), p), client.ErrWireClosed)
	require.ErrorIs(t, w.Post(t.Context(), p), client.ErrWireClosed)
}

// TLS says whom to trust, and shows a certificate of our own.
func TestHTTPTLS(t *testing.T) {
	shown := make(chan int, 1)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown <- len(r.TLS.PeerCertificates)
		w.WriteHeader(http.StatusAccepted)
	}))
	web.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	web.StartTLS()
	defer web.Close()
	note := &client.Posting{Frame: codec.AppendNotification(nil, "n", nil)}
	trusts := x509.NewCertPool()
	trusts.AddCert(web.Certificate())
	for name, c := range map[string]struct {
		config *tls.Config
		works  bool
	}{
		"nobody is trusted":       {nil, false},
		"trusted, no certificate": {&tls.Config{RootCAs: trusts}, false},
		"both":                    {&tls.Config{RootCAs: trusts, Certificates: web.TLS.Certificates}, true},
	} {
		w, err := client.NewWire(client.HTTP{Endpoint: web.URL, TLS: c.config}, client.WireOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err = w.Post(ctx, note)
		cancel()
		if c.works {
			require.NoError(t, err, name)
			require.Equal(t, 1, <-shown)
		} else {
			require.Error(t, err, name)
		}
		require.NoError(t, w.Close())
	}
}

func ExampleWire() {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":4711,"result":%q}`, r.Header.Get("Mcp-Method"))
	}))
	defer web.Close()
	w, err := client.NewWire(client.HTTP{Endpoint: web.URL}, client.WireOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = w.Close() }()
	w.Adopt(mcp.Modern)
	err = w.Exchange(context.Background(), &client.Posting{
		Method: mcp.MethodListTools, Frame: []byte(`{"jsonrpc":"2.0","id":4711,"method":"tools/list"}`),
		Receive: func(m *codec.Message) bool {
			fmt.Printf("%s\n", m.Frame())
			return m.Kind.IsResponse()
		},
	})
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","id":4711,"result":"tools/list"}
	// <nil>
}
