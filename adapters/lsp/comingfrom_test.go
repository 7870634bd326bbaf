package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lspdev "go.lsp.dev/jsonrpc2"
	xjsonrpc2 "golang.org/x/exp/jsonrpc2"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/conn"
)

// What docs/coming-from/go-lsp-dev.md shows stands here, compiled and run.

func fromLSPDev(ctx context.Context, stream io.ReadWriteCloser) (h hover, err error) {
	c := lspdev.NewConn(lspdev.NewHeaderStream(stream))
	c.Go(ctx, lspdev.AsyncHandler(func(ctx context.Context, r *lspdev.Request) (any, error) {
		switch r.Method() {
		case "workspace/configuration":
			return []any{map[string]bool{"staticcheck": true}}, nil
		case "client/registerCapability", "window/workDoneProgress/create":
			return nil, nil
		case "window/logMessage":
			return nil, logMessage(json.RawMessage(r.Params()))
		}
		return nil, lspdev.ErrMethodNotFound
	}))
	defer c.Close()
	if _, err := c.Call(ctx, "initialize", initializeParams, nil); err != nil {
		return h, err
	}
	if err := c.Notify(ctx, "initialized", struct{}{}); err != nil {
		return h, err
	}

	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	id, err := c.Call(call, "textDocument/hover", params, &h)
	if call.Err() != nil {
		_ = c.Notify(ctx, "$/cancelRequest", map[string]any{"id": id})
	}

	if _, err := c.Call(ctx, "shutdown", nil, nil); err != nil {
		return h, err
	}
	return h, errorsOr(err, c.Notify(ctx, "exit", nil))
}

func fromXExp(ctx context.Context, stream io.ReadWriteCloser) (h hover, err error) {
	c, err := xjsonrpc2.Dial(ctx, dialer{stream}, xjsonrpc2.ConnectionOptions{
		Handler: xjsonrpc2.HandlerFunc(func(ctx context.Context, r *xjsonrpc2.Request) (any, error) {
			switch r.Method {
			case "workspace/configuration":
				return []any{map[string]bool{"staticcheck": true}}, nil
			case "client/registerCapability", "window/workDoneProgress/create":
				return nil, nil
			case "window/logMessage":
				return nil, logMessage(r.Params)
			}
			return nil, xjsonrpc2.ErrNotHandled
		}),
	})
	if err != nil {
		return h, err
	}
	defer c.Close()
	if err := c.Call(ctx, "initialize", initializeParams).Await(ctx, nil); err != nil {
		return h, err
	}
	if err := c.Notify(ctx, "initialized", struct{}{}); err != nil {
		return h, err
	}

	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	hovering := c.Call(call, "textDocument/hover", params)
	err = hovering.Await(call, &h)
	if call.Err() != nil {
		_ = c.Notify(ctx, "$/cancelRequest", map[string]any{"id": hovering.ID().Raw()})
	}

	if err := c.Call(ctx, "shutdown", nil).Await(ctx, nil); err != nil {
		return h, err
	}
	return h, errorsOr(err, c.Notify(ctx, "exit", nil))
}

func toCorrelator(ctx context.Context, stream io.ReadWriteCloser) (h hover, err error) {
	c, err := lsp.New(stream, lsp.Options{ // lsp.Spawn starts the child as well
		Settings: map[string]any{"gopls": map[string]bool{"staticcheck": true}},
		OnNotification: map[string]lsp.NotificationHandler{
			"window/logMessage": func(ctx context.Context, params json.RawMessage) error { return logMessage(params) },
		},
	})
	if err != nil {
		return h, err
	}
	if _, err := c.Initialize(ctx, initializeParams, lsp.CallOptions{}); err != nil {
		return h, err
	}

	h, err = lsp.Call[hover](ctx, c, "textDocument/hover", params, lsp.CallOptions{Timeout: time.Second})

	return h, errorsOr(err, c.Shutdown(ctx))
}

var (
	initializeParams = map[string]any{"processId": nil, "rootUri": "file:///w", "capabilities": struct{}{}}
	params           = map[string]any{"position": map[string]int{"line": 2, "character": 5}}
)

func errorsOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// logged has what logMessage was given.
var logged = make(chan string, 10)

func logMessage(params json.RawMessage) error {
	logged <- string(params)
	return nil
}

// The three programs do the same: the server cannot tell them apart.
func TestComingFrom(t *testing.T) {
	for name, program := range map[string]func(context.Context, io.ReadWriteCloser) (hover, error){
		"go.lsp.dev": fromLSPDev, "x/exp": fromXExp, "correlator": toCorrelator,
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			f := newFake(t, far)
			served := make(chan []string)
			go func() {
				var said []string
				var asking message
				f.serve(func(m message) {
					switch {
					case m.Method == "textDocument/hover":
						asking = m
						f.send(`"method":"window/logMessage","params":{"type":4,"message":"hello"}`)
						f.send(`"id":1,"method":"workspace/configuration","params":{"items":[{"section":"gopls"}]}`)
					case m.Method == "":
						said = append(said, fmt.Sprintf("%s %s", m.ID, m.Result))
						f.answer(asking, `{"contents":{"value":"F0"}}`)
					}
				})
				served <- said
			}()
			h, err := program(t.Context(), near)
			require.NoError(t, err)
			require.Equal(t, "F0", h.Contents.Value)
			require.JSONEq(t, `{"type":4,"message":"hello"}`, <-logged)
			require.Equal(t, []string{`1 [{"staticcheck":true}]`}, <-served)
		})
	}
}

// What a call gets whose server ends.
func TestComingFromServerGoes(t *testing.T) {
	dying := func() io.ReadWriteCloser {
		near, far := net.Pipe()
		go func() {
			_, _ = newFake(t, far).read()
			_ = far.Close()
		}()
		return near
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	x, err := xjsonrpc2.Dial(t.Context(), dialer{dying()}, xjsonrpc2.ConnectionOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, x.Call(ctx, "x", nil).Await(ctx, nil), context.DeadlineExceeded)

	l := lspdev.NewConn(lspdev.NewHeaderStream(dying()))
	l.Go(t.Context(), lspdev.MethodNotFoundHandler)
	_, err = l.Call(t.Context(), "x", nil, nil)
	require.ErrorIs(t, err, io.EOF)
	<-l.Done()

	c, err := lsp.New(dying(), lsp.Options{})
	require.NoError(t, err)
	_, err = c.Initialize(t.Context(), nil, lsp.CallOptions{})
	gone := new(conn.PeerGone)
	require.ErrorAs(t, err, &gone)
	<-c.Done()
}

// Every block of the page is in this file.
func TestComingFromPage(t *testing.T) {
	flat := func(text []byte) string {
		return regexp.MustCompile(`\s+`).ReplaceAllString(string(text), " ")
	}
	page, err := os.ReadFile("../../docs/coming-from/go-lsp-dev.md")
	require.NoError(t, err)
	here, err := os.ReadFile("comingfrom_test.go")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		require.Contains(t, flat(here), strings.TrimSpace(flat(block[1])))
	}
}
