package downstream_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// A gateway over Streamable HTTP. The server here is one that answers everything with {};
// package upstream has real ones.
func Example() {
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "tools", Opener: &fake.Server{Answers: true}, Isolation: gateway.Shared}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint, err := downstream.NewEndpoint(g, downstream.HTTPOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l, err := downstream.Bind(ctx, "127.0.0.1:0", false)
	if err != nil {
		fmt.Println(err)
		return
	}
	over := make(chan error, 1)
	go func() {
		over <- downstream.ServeHTTP(ctx, l, endpoint, downstream.ServerOptions{}, endpoint.Close)
	}()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	post := func(session, body string) (string, string) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.Addr().String()+"/mcp", strings.NewReader(body))
		if err != nil {
			return "", err.Error()
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		response, err := client.Do(r)
		if err != nil {
			return "", err.Error()
		}
		defer func() { _ = response.Body.Close() }()
		text, _ := io.ReadAll(response.Body)
		return response.Header.Get("Mcp-Session-Id"), string(text)
	}
	session, _ := post("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}}`)
	_, answer := post(session, `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"add"}}`)
	fmt.Println(answer)
	stop()
	<-over
	_ = g.Close()
	// Output: {"jsonrpc":"2.0","id":"mine","result":{}}
}
