package target

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
)

// parseWS reads what follows the kind ws or wss: a URL without it, its slashes
// optional.
func parseWS(text, kind, rest string) (Spec, error) {
	address := kind + "://" + strings.TrimPrefix(rest, "//")
	u, err := url.Parse(address)
	if err != nil {
		return Spec{}, fmt.Errorf("target %q: %w", text, err)
	}
	if u.Hostname() == "" {
		return Spec{}, fmt.Errorf("target %q: want %s://host:port/path", text, kind)
	}
	return Spec{Kind: kind, Address: address}, nil
}

func dialWS(ctx context.Context, address string, o conn.Options) (*conn.Conn, error) {
	stream, err := websocket.Dial(ctx, address, websocket.DialOptions{})
	if err != nil {
		return nil, err
	}
	c, err := stream.Conn(o)
	if err != nil {
		_ = stream.Close()
		return nil, err
	}
	return c, nil
}
