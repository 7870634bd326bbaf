package conn

import (
	"context"
	"io"

	"github.com/correlator-go/correlator/engine"
)

// SpawnStream starts a child process as [Spawn] does and gives the stream that
// Spawn would speak over, for who brings a connection of another kind. One
// goroutine may read at a time. When reading ends, the error is a *PeerGone, which
// says how the process ended and unwraps to what ended the stream, io.EOF mostly.
// Close, which may be called again and while others read, ends the process as
// Command says and returns when it is reaped.
func SpawnStream(ctx context.Context, command Command) (io.ReadWriteCloser, error) {
	c, err := startChild(ctx, command, engine.SystemClock())
	if err != nil {
		return nil, err
	}
	return spawned{c}, nil
}

// spawned is a child that explains its end to whoever reads.
type spawned struct{ *child }

func (s spawned) Read(p []byte) (int, error) {
	n, err := s.child.Read(p)
	if err != nil {
		err = s.explain(err)
	}
	return n, err
}
