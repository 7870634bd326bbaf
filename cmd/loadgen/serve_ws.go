package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/internal/echo"
)

// handshakeMost bounds the time of a WebSocket's handshake.
const handshakeMost = 10 * time.Second

// webSockets are the open ones of a server.
type webSockets struct {
	serving sync.WaitGroup
	mu      sync.Mutex // protects the fields below
	open    map[*websocket.Stream]bool
	over    bool
}

// serveWebSockets serves every WebSocket that clients open over listener, on any
// path, until ctx ends.
func serveWebSockets(ctx context.Context, listener net.Listener, o echo.Options, stdout, stderr io.Writer) error {
	o.Framer = websocket.Framer{}
	all := &webSockets{open: map[*websocket.Stream]bool{}}
	server := &http.Server{
		ReadHeaderTimeout: handshakeMost, ReadTimeout: handshakeMost, // which end with the handshake
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s, err := websocket.Accept(w, r, websocket.AcceptOptions{})
			if err != nil {
				fmt.Fprintf(stderr, "loadgen serve: %v\n", err)
				return
			}
			if !all.add(s) {
				_ = s.Close()
				return
			}
			defer all.remove(s)
			if err := echo.Serve(s, o); err != nil && ctx.Err() == nil {
				fmt.Fprintf(stderr, "loadgen serve: %v\n", err)
			}
		}),
	}
	fmt.Fprintf(stdout, "listening on ws:%s\n", listener.Addr())
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() {
		_ = server.Close()
		all.end()
	})
	err := server.Serve(listener)
	cancel()
	all.serving.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (a *webSockets) add(s *websocket.Stream) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	a.open[s] = true
	a.serving.Add(1)
	return true
}

func (a *webSockets) remove(s *websocket.Stream) {
	a.mu.Lock()
	delete(a.open, s)
	a.mu.Unlock()
	a.serving.Done()
}

func (a *webSockets) end() {
	a.mu.Lock()
	a.over = true
	var closing sync.WaitGroup
	for s := range a.open {
		closing.Go(func() { _ = s.Close() })
	}
	a.mu.Unlock()
	closing.Wait()
}
