package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options of a server. The zero value will do.
type Options struct {
	// Dir keeps the leases; "" is a temporary folder that goes with the server.
	Dir string
	// Port is where other processes reach it, on Host: -1 takes a free one, 0 lets
	// nobody in but this process.
	Port int
	// Host is the address to listen at; "" is 127.0.0.1.
	Host string
	// MaxPayload is the longest message in bytes; zero is NATS's own.
	MaxPayload int32
	// Token, if it is set, is asked of everybody.
	Token string
	// StartTimeout is how long the start may take; zero is ten seconds.
	StartTimeout time.Duration
}

// Server is a running server. It is what cluster.Options.Server takes.
type Server struct {
	nats      *server.Server
	temporary string
}

// Start starts a server. Close ends it.
func Start(o Options) (*Server, error) {
	s := &Server{}
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "correlator-nats-")
		if err != nil {
			return nil, fmt.Errorf("embedded: %w", err)
		}
		o.Dir, s.temporary = dir, dir
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 10 * time.Second
	}
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	n, err := server.NewServer(&server.Options{
		ServerName: "correlator-gateway", Host: o.Host, Port: o.Port, DontListen: o.Port == 0, MaxPayload: o.MaxPayload, Authorization: o.Token,
		JetStream: true, StoreDir: o.Dir, NoLog: true, NoSigs: true,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("embedded: %w", err), s.sweep())
	}
	s.nats = n
	n.Start()
	if !n.ReadyForConnections(o.StartTimeout) {
		return nil, errors.Join(fmt.Errorf("embedded: the server was not ready within %v", o.StartTimeout), s.Close())
	}
	return s, nil
}

// InProcessConn implements nats.InProcessConnProvider.
func (s *Server) InProcessConn() (net.Conn, error) { return s.nats.InProcessConn() }

// URL is where other processes reach the server.
func (s *Server) URL() string { return s.nats.ClientURL() }

// Close ends the server and waits for its end.
func (s *Server) Close() error {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
	return s.sweep()
}

func (s *Server) sweep() error {
	if s.temporary == "" {
		return nil
	}
	return os.RemoveAll(s.temporary)
}
