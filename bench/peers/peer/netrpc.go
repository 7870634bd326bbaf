package peer

import (
	"context"
	"encoding/json"
	"io"
	"net/rpc"
	"net/rpc/jsonrpc"
	"time"

	"github.com/correlator-go/correlator/bench/peers/server"
)

// net/rpc has no timeout: its users wait for the call or a timer. The timer, the
// channel and the result are reused, which is as cheap as it gets. Its encoding
// buffers on its own.

var netRPCJSON = Peer{
	Name: NetRPC, Class: JSON, Server: server.RPC1, Timeouts: "timer",
	Open: netRPC(jsonrpc.NewClient, func(w *Work) (json.RawMessage, []byte) { return w.quoted(), w.quoted() }),
}

var netRPCGob = Peer{
	Name: "net-rpc-gob", Class: Other, Server: server.Gob, Timeouts: "timer",
	Open: netRPC(rpc.NewClient, func(w *Work) ([]byte, []byte) { return []byte(w.Text), []byte(w.Text) }),
}

func netRPC[B ~[]byte](open func(io.ReadWriteCloser) *rpc.Client, payload func(*Work) (params B, want []byte)) func(Link) (Client, error) {
	return func(link Link) (Client, error) {
		stream, err := link.Dial()
		if err != nil {
			return Client{}, err
		}
		c := open(stream)
		return Client{
			Caller: func(w Work) (func() error, error) {
				params, want := payload(&w)
				ended := make(chan *rpc.Call, 1)
				timer := time.NewTimer(w.Timeout)
				var result B
				return func() error {
					result = result[:0]
					c.Go(w.Name, params, &result, ended)
					timer.Reset(w.Timeout)
					select {
					case call := <-ended:
						timer.Stop()
						if call.Error != nil {
							return call.Error
						}
						return w.check(result, want)
					case <-timer.C:
						// The call stays in the table and may still come to this channel.
						ended, result = make(chan *rpc.Call, 1), nil
						return context.DeadlineExceeded
					}
				}, nil
			},
			Close: c.Close,
		}, nil
	}
}
