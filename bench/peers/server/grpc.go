package server

import (
	"context"
	"io"
	"net"
	"runtime"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// GRPCMethod is the method that answers with its request.
const GRPCMethod = "/echo.Echo/Call"

// RawCodec passes bytes through: what any generated code would add is left out.
type RawCodec struct{}

// Marshal takes a *[]byte.
func (RawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

// Unmarshal fills a *[]byte, in its own space if that suffices.
func (RawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	b := v.(*[]byte)
	n := data.Len()
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	*b = (*b)[:n]
	data.CopyTo(*b)
	return nil
}

// Name is that of the content type.
func (RawCodec) Name() string { return "raw" }

var grpcService = grpc.ServiceDesc{
	ServiceName: "echo.Echo",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Call",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			body := new([]byte)
			return body, decode(body)
		},
	}},
}

// grpcEcho serves one connection.
func grpcEcho(c io.ReadWriteCloser) error {
	s := grpc.NewServer(
		grpc.ForceServerCodecV2(RawCodec{}),
		grpc.NumStreamWorkers(uint32(runtime.GOMAXPROCS(0))),
	)
	s.RegisterService(&grpcService, struct{}{})
	l := &once{conn: NetConn(c), closed: make(chan struct{})}
	return s.Serve(l)
}

// once is a listener that accepts one connection, and ends when that does.
type once struct {
	conn   net.Conn
	taken  sync.Once
	ended  sync.Once
	closed chan struct{}
}

// Accept returns the connection, and the second time waits for its end.
func (l *once) Accept() (c net.Conn, err error) {
	l.taken.Do(func() { c = &ending{Conn: l.conn, end: l.end} })
	if c != nil {
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *once) end() { l.ended.Do(func() { close(l.closed) }) }

// Close ends Accept.
func (l *once) Close() error { l.end(); return nil }

// Addr is the connection's own.
func (l *once) Addr() net.Addr { return l.conn.LocalAddr() }

// ending tells when it is closed.
type ending struct {
	net.Conn
	end func()
}

// Close closes the connection and ends the listener.
func (e *ending) Close() error {
	defer e.end()
	return e.Conn.Close()
}
