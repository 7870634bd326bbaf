package upstream

import (
	"context"
	"strings"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/duplex"
	"github.com/correlator-go/correlator/gateway/link"
)

// duplexOpener opens connections over which both sides speak.
type duplexOpener struct {
	name    string
	o       conn.Options
	connect func(ctx context.Context, o conn.Options) (*conn.Conn, error)
}

func (d *duplexOpener) String() string { return d.name }

// Open implements link.Opener.
func (d *duplexOpener) Open(ctx context.Context, owner link.Owner, _ link.Key) (link.Upstream, error) {
	l, err := duplex.Open(func(o conn.Options) (*conn.Conn, error) { return d.connect(ctx, o) }, duplex.Options{Conn: d.o},
		func(*duplex.Link) link.Receiver { return owner })
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Child is the way to a server that runs as a child process: see conn.Spawn. When it
// dies, calls fail with its exit code and the end of its standard error.
func Child(command conn.Command, o conn.Options) link.Opener {
	return &duplexOpener{
		name: strings.TrimSpace(command.Path + " " + strings.Join(command.Args, " ")), o: o,
		connect: func(ctx context.Context, o conn.Options) (*conn.Conn, error) { return conn.Spawn(ctx, command, o) },
	}
}

// Dial is the way to a server that listens on a socket: see conn.Dial for networks.
func Dial(network, address string, o conn.Options) link.Opener {
	return &duplexOpener{
		name: network + "://" + address, o: o,
		connect: func(ctx context.Context, o conn.Options) (*conn.Conn, error) {
			return conn.Dial(ctx, network, address, o)
		},
	}
}
