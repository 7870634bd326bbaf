package downstream

import (
	"net/http"
	"strings"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway/duplex"
)

// Defaults of WebSocketOptions.
const (
	// DefaultPing is the pause between two pings.
	DefaultPing = 30 * time.Second
	// Subprotocol is what clients may ask for; those that ask for none are served as
	// well.
	Subprotocol = "mcp"
)

// WebSocketOptions of an Endpoint. One text message is one JSON-RPC message, and one
// WebSocket is one session.
type WebSocketOptions struct {
	// Off refuses WebSockets with status 426.
	Off bool
	// MaxConnections is how many are served at once; further ones get status 503. Zero
	// is DefaultMaxConnections, negative no bound.
	MaxConnections int
	// Conn are those of each connection; see Options.Conn.
	Conn conn.Options
	// Ping is the pause between pings. Zero is DefaultPing, negative sends none. A client
	// whose pong takes longer than that, and longer than DefaultPing, counts as gone.
	Ping time.Duration
	// Compress accepts permessage-deflate.
	Compress bool
}

func (o WebSocketOptions) withDefaults() WebSocketOptions {
	if o.MaxConnections == 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	if o.Ping == 0 {
		o.Ping = DefaultPing
	}
	o.Conn = Options{Conn: o.Conn}.withDefaults().Conn
	return o
}

// isUpgrade reports whether a request wants to become a WebSocket.
func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// upgrade makes a WebSocket of a request, and a session of that. It returns at once:
// the WebSocket lives on without a goroutine here.
func (e *Endpoint) upgrade(w http.ResponseWriter, r *http.Request) {
	caller, ok := e.http.Admit(w, r)
	switch {
	case !ok:
		return
	case e.o.WebSocket.Off:
		http.Error(w, "WebSockets are not served here", http.StatusUpgradeRequired)
		return
	case !e.links.enter(e.o.WebSocket.MaxConnections):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	stream, err := websocket.Accept(w, r, websocket.AcceptOptions{
		Options:      websocket.Options{Ping: e.o.WebSocket.Ping, PingTimeout: max(e.o.WebSocket.Ping, DefaultPing), Compress: e.o.WebSocket.Compress},
		Subprotocols: []string{Subprotocol},
		AnyOrigin:    true, // Admit has looked at it
	})
	if err != nil {
		e.links.leave(nil)
		return // it was answered
	}
	o := Options{Conn: e.o.WebSocket.Conn}
	o.Conn.Framer = websocket.Framer{}
	var own *duplex.Link
	joined := make(chan struct{})
	own, err = o.joinAs(e.g, stream, peerOf(caller, "websocket"), func(error) {
		<-joined
		e.links.leave(own)
	})
	if err != nil {
		e.links.leave(nil)
	} else {
		e.links.add(own)
	}
	close(joined)
}
