package peer

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/redis/rueidis"
	"github.com/valyala/fasthttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/correlator-go/correlator/bench/peers/server"
)

// netConn dials a net.Conn.
func (l Link) netConn() (net.Conn, error) {
	c, err := l.Dial()
	if err != nil {
		return nil, err
	}
	return server.NetConn(c), nil
}

// rueidisDelay is how long rueidis may gather requests after a flush. Of none, 20
// and 100 µs the last was the fastest with 64 and 1,024 callers (by up to 1.7
// times) and no slower with one.
const rueidisDelay = 100 * time.Microsecond

// rueidis over one connection that is always pipelined, with no client-side cache
// to look into and a ring as large as the callers are many. Its own timeout is
// the connection's; one for a call is a context. The row without shows what that
// context costs it.
var (
	rueidisPeer = rueidisAs(Rueidis, "context")
	rueidisBare = rueidisAs("rueidis-connection-timeout", "none")
)

func rueidisAs(name, timeouts string) Peer {
	return Peer{
		Name: name, Class: Other, Server: server.RESP, Timeouts: timeouts,
		Open: func(link Link) (Client, error) {
			scale := 10
			for 1<<scale < link.Callers {
				scale++
			}
			c, err := rueidis.NewClient(rueidis.ClientOption{
				InitAddress: []string{"localhost"},
				DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
					return link.netConn()
				},
				ForceSingleClient: true, DisableCache: true, AlwaysPipelining: true, PipelineMultiplex: -1,
				RingScaleEachConn: scale, MaxFlushDelay: rueidisDelay, DisableRetry: true,
			})
			if err != nil {
				return Client{}, err
			}
			return Client{
				Caller: func(w Work) (func() error, error) {
					want := []byte(w.Text)
					return func() error {
						ctx := context.Background()
						if timeouts == "context" {
							var cancel context.CancelFunc
							ctx, cancel = w.context()
							defer cancel()
						}
						answer, err := c.Do(ctx, c.B().Echo().Message(w.Text).Build()).AsBytes()
						if err != nil {
							return err
						}
						return w.check(answer, want)
					}, nil
				},
				Close: func() error { c.Close(); return nil },
			}, nil
		},
	}
}

// fasthttp's pipeline client over one connection, with its timeout as an
// argument, requests and responses reused and headers left as they are.
var fasthttpPeer = Peer{
	Name: "fasthttp-pipeline", Class: Other, Server: server.HTTP, Timeouts: "argument",
	Open: func(link Link) (Client, error) {
		stream, err := link.netConn()
		if err != nil {
			return Client{}, err
		}
		c := &fasthttp.PipelineClient{
			Addr: "localhost", Dial: func(string) (net.Conn, error) { return stream, nil },
			MaxConns: 1, MaxPendingRequests: max(link.Callers, fasthttp.DefaultMaxPendingRequests),
			ReadBufferSize: 256 << 10, WriteBufferSize: 256 << 10,
			NoDefaultUserAgentHeader: true, DisableHeaderNamesNormalizing: true, DisablePathNormalizing: true,
		}
		return Client{
			Caller: func(w Work) (func() error, error) {
				request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
				request.SetRequestURI("http://localhost/")
				request.Header.SetMethod("POST")
				body := []byte(w.Text)
				return func() error {
					request.SetBodyRaw(body) // a call takes it out
					if err := c.DoTimeout(request, response, w.Timeout); err != nil {
						return err
					}
					return w.check(response.Body(), body)
				}, nil
			},
			Close: stream.Close,
		}, nil
	},
}

// nats.go with its timeout as an argument, which takes a timer from a pool where
// a context would be made for the call.
var natsPeer = Peer{
	Name: "nats", Class: Other, Server: server.NATS, Timeouts: "argument",
	Open: func(link Link) (Client, error) {
		c, err := nats.Connect("nats://localhost", nats.SetCustomDialer(natsDialer{link}), nats.NoReconnect())
		if err != nil {
			return Client{}, err
		}
		return Client{
			Caller: func(w Work) (func() error, error) {
				body := []byte(w.Text)
				return func() error {
					m, err := c.Request(w.Name, body, w.Timeout)
					if err != nil {
						return err
					}
					return w.check(m.Data, body)
				}, nil
			},
			Close: func() error { c.Close(); return nil },
		}, nil
	},
}

type natsDialer struct{ link Link }

// Dial dials, wherever to.
func (d natsDialer) Dial(string, string) (net.Conn, error) { return d.link.netConn() }

// grpc-go with a codec that passes bytes through. Its windows and buffers are the
// defaults: fixed windows of 16 MiB and buffers of 256 KiB were no faster with 100
// bytes and slower with 4 KiB. The server has stream workers instead of a
// goroutine for each call.
var grpcPeer = Peer{
	Name: GRPC, Class: Other, Server: server.GRPC, Timeouts: "context",
	Open: func(link Link) (Client, error) {
		c, err := grpc.NewClient("passthrough:///localhost",
			grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return link.netConn() }),
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodecV2(server.RawCodec{})),
			grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithIdleTimeout(time.Duration(0)),
		)
		if err != nil {
			return Client{}, err
		}
		return Client{
			Caller: func(w Work) (func() error, error) {
				body, answer := []byte(w.Text), []byte(nil)
				return func() error {
					ctx, cancel := w.context()
					defer cancel()
					if err := c.Invoke(ctx, server.GRPCMethod, &body, &answer); err != nil {
						return err
					}
					return w.check(answer, body)
				}, nil
			},
			Close: c.Close,
		}, nil
	},
}
