package upstream

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway/link"
)

// WebSocketOptions of the way to a server over WebSocket. The zero value will do.
type WebSocketOptions struct {
	// Dial has headers, TLS, pings and compression.
	Dial websocket.DialOptions
	// Token gives the bearer token of each handshake, so that it can be renewed; its
	// error fails the opening. Nil leaves Dial.Header as it is.
	Token func(ctx context.Context) (string, error)
	// Conn has the limits of the connection. Framer is the way's own.
	Conn conn.Options
}

// WebSocket is the way to a server at a ws or wss URL, a text message for each message.
// An answer above Conn.MaxFrame fails its own call and no other. The error is a
// *client.OptionError.
func WebSocket(address string, o WebSocketOptions) (link.Opener, error) {
	u, err := url.Parse(address)
	if err == nil && (u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "") {
		err = fmt.Errorf("no ws or wss URL")
	}
	if err != nil {
		return nil, &client.OptionError{Field: "address", Value: withoutSecrets(address), Problem: plainly(err).Error()}
	}
	return &duplexOpener{name: withoutSecrets(address), o: o.Conn, connect: func(ctx context.Context, c conn.Options) (*conn.Conn, error) {
		d := o.Dial
		if o.Token != nil {
			token, err := o.Token(ctx)
			if err != nil {
				return nil, err
			}
			if d.Header = d.Header.Clone(); d.Header == nil {
				d.Header = make(http.Header)
			}
			d.Header.Set("Authorization", "Bearer "+token)
		}
		s, err := websocket.Dial(ctx, address, d)
		if err != nil {
			return nil, plainly(err)
		}
		return s.Conn(c)
	}}, nil
}
