package websocket

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"

	ws "github.com/coder/websocket"

	"github.com/correlator-go/correlator/conn"
)

// AcceptOptions of a server. The zero value accepts browsers from its own host, and
// clients that send no Origin.
type AcceptOptions struct {
	Options
	// Subprotocols are those that the server speaks; the client's preference
	// decides.
	Subprotocols []string
	// Origins are patterns, as of path.Match, of further hosts, or of schemes and
	// hosts, whose pages may connect. A server that goes by cookies must not take
	// them all.
	Origins []string
	// AnyOrigin takes pages from everywhere.
	AnyOrigin bool
}

// Accept makes a WebSocket of a request, and answers the request in any case. The
// stream outlives the HTTP handler, and the contexts of the request. The error is a
// *HandshakeError whose Status is what the client got.
func Accept(w http.ResponseWriter, r *http.Request, o AcceptOptions) (*Stream, error) {
	h := &hijacker{ResponseWriter: w}
	socket, err := ws.Accept(h, r, &ws.AcceptOptions{
		Subprotocols: o.Subprotocols, OriginPatterns: o.Origins, InsecureSkipVerify: o.AnyOrigin, CompressionMode: o.compression(),
	})
	if err != nil {
		return nil, &HandshakeError{Status: h.status, Err: err}
	}
	return newStream(socket, h.link, o.Options), nil
}

// hijacker puts a link below the WebSocket.
type hijacker struct {
	http.ResponseWriter
	status int
	link   *link
}

// WriteHeader notes the status.
func (h *hijacker) WriteHeader(status int) {
	h.status = status
	h.ResponseWriter.WriteHeader(status)
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if err := buffers.Writer.Flush(); err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	h.link = newLink(c)
	early, _ := buffers.Reader.Peek(buffers.Reader.Buffered()) // it has so many
	src, size := io.Reader(io.MultiReader(bytes.NewReader(early), h.link)), buffers.Reader.Size()
	if lazy := conn.LazyReaderOf(c); lazy != nil && len(early) <= intakeBytes {
		h.link.in = newIntake(lazy, early)
		src, size = h.link, acceptBuffer
	}
	over := &followed{h.link, &lengths{src: src}}
	return over, bufio.NewReadWriter(bufio.NewReaderSize(over, size), bufio.NewWriterSize(h.link, acceptBuffer)), nil
}

// acceptBuffer is how long the buffers of the library are, which it has on top of the
// link's: a header is gathered in them, or a control frame. Those of net/http, 4 KiB
// each, are left to the collector.
const acceptBuffer = 144
