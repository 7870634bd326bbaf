package serve

import (
	"context"
	"net"
	"sync"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/accept"
	"github.com/correlator-go/correlator/mcp"
)

// Stdio serves the process's standard input and output, which nothing else of the
// program may touch, until the peer closes the input or ctx ends. Unless
// Options.WriteTimeout is set, a peer that stops reading is waited for without
// limit: it is the one that ends the process. See Serve.
func (s *Server) Stdio(ctx context.Context) error {
	stream, err := conn.StdioStream()
	if err != nil {
		return err
	}
	return s.serveStream(ctx, stream, mcp.Caller{}, s.stdioStall)
}

// InProcess serves a client of the same process, and gives its end of the
// connection, which is for lines as Serve's is. Closing it, or the end of ctx,
// ends the connection.
func (s *Server) InProcess(ctx context.Context) net.Conn {
	ours, theirs := net.Pipe()
	go func() { _ = s.Serve(ctx, ours) }()
	return theirs
}

// Listen serves every connection that l accepts, as Serve does, at most
// Options.MaxConnections at once: further ones are closed. It returns when l
// fails, or when ctx ends, with its cause; then l is closed and every connection
// has ended.
func (s *Server) Listen(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer func() { _ = l.Close() }()
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, s.o.MaxConnections)
	for {
		peer, err := accept.Next(ctx, l)
		if err != nil {
			return err
		}
		select {
		case places <- struct{}{}:
		default:
			s.counts.refused.Add(1)
			_ = peer.Close()
			continue
		}
		all.Go(func() {
			defer func() { <-places }()
			_ = s.Serve(ctx, peer)
		})
	}
}
