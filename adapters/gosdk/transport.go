package gosdk

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/correlator-go/correlator/conn"
)

// Options of a Transport. The zero value reads what go-sdk's own transports read.
type Options struct {
	// MaxFrame bounds a frame that comes in, in bytes; a longer line is skipped.
	// Zero is codec.DefaultMaxFrame, 16 MiB, negative 2 GiB.
	MaxFrame int
	// MaxDepth bounds the nesting of a message. Zero is DefaultMaxDepth, that of
	// go-sdk; negative has no limit but MaxFrame.
	MaxDepth int
	// WriteBuffer bounds the bytes that wait for a peer that does not read, beside
	// those of the write that goes on. A message that finds no room waits, until its
	// ctx ends; one that is longer passes alone. Zero is conn.DefaultWriteBuffer,
	// 8 MiB, negative 2 GiB.
	WriteBuffer int
	// OnStray sees what came in and could not be used. It is called by the reader,
	// which it must not block. Nil sees nothing; it is counted in any case.
	OnStray func(conn.Stray)
}

// DefaultMaxDepth is how deep a message may be nested where Options say nothing.
const DefaultMaxDepth = 1000

// Transport is an mcp.Transport, for one call of Connect.
type Transport struct {
	open func(context.Context) (io.ReadWriteCloser, error)
	o    Options
	used atomic.Bool
	link atomic.Pointer[link]
}

var _ mcp.Transport = (*Transport)(nil)

// ErrConnected is what a second Connect gives.
var ErrConnected = errors.New("gosdk: transport was connected before")

// Command is a child process, which Connect starts; the ctx of Connect counts only
// until it runs. The session's Close ends it as command says.
func Command(command conn.Command, o Options) *Transport {
	return &Transport{o: o, open: func(ctx context.Context) (io.ReadWriteCloser, error) {
		return conn.SpawnStream(ctx, command)
	}}
}

// Dial is a peer behind a socket: network is "unix", "tcp", "tcp4" or "tcp6".
// Connect dials, under its ctx.
func Dial(network, address string, o Options) *Transport {
	return &Transport{o: o, open: func(ctx context.Context) (io.ReadWriteCloser, error) {
		switch network {
		case "unix", "tcp", "tcp4", "tcp6":
		default:
			return nil, &net.OpError{Op: "dial", Net: network, Err: net.UnknownNetworkError(network)}
		}
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}}
}

// Stdio is the process's own standard input and output, for a server that was
// started as a child. Nothing else of the program may touch those two, and a process
// has them once.
func Stdio(o Options) *Transport {
	return &Transport{o: o, open: func(context.Context) (io.ReadWriteCloser, error) { return conn.StdioStream() }}
}

// Stream is a peer behind a stream, which belongs to the connection from Connect
// on. Its Close must end a Read and a Write that wait.
func Stream(stream io.ReadWriteCloser, o Options) *Transport {
	return &Transport{o: o, open: func(context.Context) (io.ReadWriteCloser, error) { return stream, nil }}
}

// Connect implements mcp.Transport.
func (t *Transport) Connect(ctx context.Context) (mcp.Connection, error) {
	if t.used.Swap(true) {
		return nil, ErrConnected
	}
	stream, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	l := newLink(stream, t.o)
	t.link.Store(l)
	return l, nil
}

// Stats are counters of one connection. Nothing of what they count has ended it.
type Stats struct {
	Unreadable uint64 // lines that are no message
	TooLarge   uint64 // lines above MaxFrame
	Batches    uint64 // lines that are arrays
	NoID       uint64 // answers without an id
	Dropped    uint64 // refusals of ours, for a peer that asks and does not read
	Writes     uint64 // write calls
	Frames     uint64 // frames written
}

// Stats reads the counters, which are zero before Connect.
func (t *Transport) Stats() Stats {
	l := t.link.Load()
	if l == nil {
		return Stats{}
	}
	return Stats{
		Unreadable: l.unreadable.Load(), TooLarge: l.tooLarge.Load(), Batches: l.batches.Load(),
		NoID: l.noID.Load(), Dropped: l.dropped.Load(), Writes: l.writer.writes.Load(), Frames: l.writer.frames.Load(),
	}
}
