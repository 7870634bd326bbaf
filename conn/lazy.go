package conn

import (
	"io"

	"github.com/correlator-go/correlator/codec"
)

// LazyReaderOf gives what reads from stream and waits without a buffer, nil if nothing
// does: stream itself if it is a codec.LazyReader, or a *net.UnixConn or *net.TCPConn on
// Unix. A Conn asks for it by itself; it is for streams that wrap another. One goroutine
// at a time may read.
func LazyReaderOf(stream io.Reader) codec.LazyReader {
	if r, ok := stream.(codec.LazyReader); ok {
		return r
	}
	return socketReader(stream)
}
