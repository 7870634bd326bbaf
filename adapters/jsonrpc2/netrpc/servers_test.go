package netrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"path/filepath"
	"sync"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/netrpc"
	"github.com/correlator-go/correlator/codec"
)

type Args struct{ A, B int }

// Arith is a service of net/rpc. Held calls wait until release is closed.
type Arith struct{ release chan struct{} }

func (Arith) Multiply(a Args, reply *int) error { *reply = a.A * a.B; return nil }

func (Arith) Divide(a Args, reply *int) error {
	if a.B == 0 {
		return errors.New("division by zero")
	}
	*reply = a.A / a.B
	return nil
}

func (s Arith) Held(a Args, reply *int) error { <-s.release; *reply = a.A; return nil }

// listen serves every connection of a unix socket until the test is over.
func listen(t testing.TB, serve func(net.Conn)) string {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); served.Wait() })
	return l.Addr().String()
}

func arith(t testing.TB) (string, Arith) {
	service := Arith{make(chan struct{})}
	s := rpc.NewServer()
	require.NoError(t, s.Register(service))
	return listen(t, func(c net.Conn) { s.ServeCodec(jsonrpc.NewServerCodec(c)) }), service
}

// Both clients do the same with a server of net/rpc.
func TestServerOfNetRPC(t *testing.T) {
	for name, dial := range map[string]func(network, address string) (*rpc.Client, error){"net/rpc/jsonrpc": jsonrpc.Dial, "netrpc": netrpc.Dial} {
		t.Run(name, func(t *testing.T) {
			address, service := arith(t)
			c, err := dial("unix", address)
			require.NoError(t, err)
			var held, product int
			slow := c.Go("Arith.Held", Args{A: 5}, &held, nil)
			require.NoError(t, c.Call("Arith.Multiply", Args{6, 7}, &product))
			require.Equal(t, 42, product)
			require.Equal(t, rpc.ServerError("division by zero"), c.Call("Arith.Divide", Args{A: 1}, &product))
			require.Equal(t, rpc.ServerError("rpc: can't find method Arith.Nothing"), c.Call("Arith.Nothing", Args{}, &product))
			close(service.release)
			require.NoError(t, script.Get(t, slow.Done).Error)
			require.Equal(t, 5, held)
			require.Error(t, c.Call("Arith.Multiply", func() {}, &product), "what cannot be encoded fails its call")
			require.NoError(t, c.Call("Arith.Multiply", Args{2, 2}, &product))

			require.NoError(t, c.Close())
			require.Equal(t, rpc.ErrShutdown, c.Close())
			require.Equal(t, rpc.ErrShutdown, c.Call("Arith.Multiply", Args{}, &product))
		})
	}
}

func TestManyCallers(t *testing.T) {
	address, _ := arith(t)
	c, err := netrpc.Dial("unix", address)
	require.NoError(t, err)
	defer c.Close()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 50 {
				var product int
				if err := c.Call("Arith.Multiply", Args{i, j}, &product); err != nil || product != i*j {
					t.Errorf("%d × %d = %d, %v", i, j, product, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// Servers of JSON-RPC 2.0 take params by name, and their errors have codes and data.
func TestServerOfJSONRPC2(t *testing.T) {
	address := listen(t, func(c net.Conn) {
		methods := handler.Map{
			"sum": handler.New(func(_ context.Context, a Args) int { return a.A + a.B }),
			"fail": handler.New(func(context.Context) (any, error) {
				return nil, (&jrpc2.Error{Code: -32050, Message: "no more"}).WithData([]int{7})
			}),
		}
		_ = jrpc2.NewServer(methods, nil).Start(channel.Line(c, c)).Wait()
	})
	link, err := net.Dial("unix", address)
	require.NoError(t, err)
	codec, err := netrpc.New(link, netrpc.Options{Named: true, ErrorText: func(e *codec.Error) string {
		return fmt.Sprintf("%d %s %s", e.Code, e.Message, e.Data)
	}})
	require.NoError(t, err)
	c := rpc.NewClientWithCodec(codec)
	defer c.Close()
	var sum int
	require.NoError(t, c.Call("sum", Args{1, 2}, &sum))
	require.Equal(t, 3, sum)
	require.Equal(t, rpc.ServerError("-32050 no more [7]"), c.Call("fail", nil, &sum))
	require.Equal(t, rpc.ServerError(`-32601 method not found "other"`), c.Call("other", nil, &sum))
	require.ErrorContains(t, c.Call("sum", 7, &sum), "int is no object and no array")
}
