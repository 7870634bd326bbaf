package target

import (
	"context"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
)

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
