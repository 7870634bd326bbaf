package netrpc

import (
	"io"
	"net"
	"net/rpc"
)

// NewClient is jsonrpc.NewClient: a client over a stream, which belongs to it.
func NewClient(stream io.ReadWriteCloser) *rpc.Client {
	return rpc.NewClientWithCodec(NewClientCodec(stream))
}

// NewClientCodec is jsonrpc.NewClientCodec: the codec of a client over a stream,
// which belongs to it.
func NewClientCodec(stream io.ReadWriteCloser) rpc.ClientCodec {
	c, err := New(stream, Options{})
	if err != nil {
		panic("netrpc: the default options are refused: " + err.Error())
	}
	return c
}

// Dial is jsonrpc.Dial: a client of the server at an address, over any network of
// net.Dial.
func Dial(network, address string) (*rpc.Client, error) {
	c, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return NewClient(c), nil
}
