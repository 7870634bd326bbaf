package peer

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/conn"
)

// ToolLoad is what rows use whose contenders are servers: tools/call in batches
// over one connection that was initialized, in bytes that are the same for every
// server, with answers that are looked at and not decoded. It is no contender.
var ToolLoad = Peer{Name: "tool-load", Class: Floor, Timeouts: "argument", Open: openToolLoad}

const (
	helloTimeout = 10 * time.Second
	toolHello    = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"peers","version":"1"}}`
)

func openToolLoad(link Link) (Client, error) {
	c, err := newConn(link, conn.Options{})
	if err != nil {
		return Client{}, err
	}
	ctx := context.Background()
	if _, err := c.Call(ctx, "initialize", []byte(toolHello), conn.CallOptions{Timeout: helloTimeout}); err != nil {
		return Client{}, fmt.Errorf("initialize: %w", err)
	}
	if err := c.Notify(ctx, "notifications/initialized", nil); err != nil {
		return Client{}, err
	}
	request := func(w Work) (conn.Request, func([]byte) error) {
		text := []byte(`"text":"` + w.Text + `"`)
		r := conn.Request{
			Method: "tools/call", Params: []byte(`{"name":"` + w.Name + `","arguments":` + string(w.arguments()) + `}`),
			Options: conn.CallOptions{Timeout: w.Timeout, NoWait: true},
		}
		return r, func(answer []byte) error {
			if !bytes.Contains(answer, text) {
				return fmt.Errorf("%w: %.200q", ErrEcho, answer)
			}
			return nil
		}
	}
	return Client{
		Caller: func(w Work) (func() error, error) {
			r, check := request(w)
			return func() error {
				answer, err := c.Call(ctx, r.Method, r.Params, conn.CallOptions{Timeout: w.Timeout})
				if err != nil {
					return err
				}
				return check(answer)
			}, nil
		},
		Pump: func(w Work, inFlight int, l *load.Loop) error {
			r, check := request(w)
			return batched(c, r, check, inFlight, l)
		},
		Close: c.Close,
	}, nil
}
