package upstream_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// Two clients share a server over HTTP, which knows their calls by numbers of the
// gateway's, and the gateway by its own credentials.
func ExampleHTTP() {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := codec.Parse(body, codec.ScanOptions{})
		if err != nil || m.Kind != codec.KindRequest {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(codec.AppendResult(nil, m.RawID(), []byte(fmt.Sprintf("%q", r.Header.Get("Authorization")))))
	}))
	defer web.Close()
	opener, err := upstream.HTTP(client.HTTP{Endpoint: web.URL, Header: http.Header{"Authorization": {"Bearer the-gateway's-own"}}}, upstream.HTTPOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "web", Opener: opener, Isolation: gateway.Shared, Plain: true}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = g.Close() }()
	for range 2 {
		c := &fake.Client{} // package downstream has real ones
		c.Join(g.Join(c))
		_ = c.Say(`{"jsonrpc":"2.0","id":"mine","method":"who"}`)
		fmt.Println(c.Next())
	}
	// Output:
	// {"jsonrpc":"2.0","id":"mine","result":"Bearer the-gateway's-own"}
	// {"jsonrpc":"2.0","id":"mine","result":"Bearer the-gateway's-own"}
}

// What is wrong in an address is told before anything is opened.
func ExampleWebSocket() {
	_, err := upstream.WebSocket("https://example.org/mcp", upstream.WebSocketOptions{})
	fmt.Println(err)
	// Output: client: option address is "https://example.org/mcp": no ws or wss URL
}

// Credentials that are renewed are asked for at each request.
func ExampleHTTPOptions() {
	token := []byte("from-a-file\n")
	o := upstream.HTTPOptions{Token: func(context.Context) (string, error) {
		return string(bytes.TrimSpace(token)), nil
	}}
	_, err := upstream.HTTP(client.HTTP{Endpoint: "https://example.org/mcp"}, o)
	fmt.Println(err)
	// Output: <nil>
}
