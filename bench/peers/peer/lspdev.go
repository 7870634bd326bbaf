package peer

import (
	"context"
	"encoding/json"
	"io"
	"runtime"
	"sync"

	lspdev "go.lsp.dev/jsonrpc2"

	"github.com/correlator-go/correlator/bench/peers/server"
)

// go.lsp.dev/jsonrpc2 in lines, its cheaper framing, with raw params and results,
// which its codec passes through: as the connection of two equals that it is, and
// as its client that may only call (a notification by the server ends that one).
// It writes once per call, so both also run over a writer that gathers, as a user
// who looks for speed would put under it.
var (
	lspDevConn             = lspDev(LSPConn, lspdevConn, false)
	lspDevConnBuffered     = lspDev(LSPConnBuffered, lspdevConn, true)
	lspDevPipeline         = lspDev(LSPClient, lspdevPipeline, false)
	lspDevPipelineBuffered = lspDev(LSPClientBuffered, lspdevPipeline, true)
)

// Those over a writer that gathers.
const (
	LSPConn           = "lsp-dev-conn"
	LSPClient         = "lsp-dev-pipeline"
	LSPConnBuffered   = "lsp-dev-conn+buffer"
	LSPClientBuffered = "lsp-dev-pipeline+buffer"
)

func lspdevConn(s lspdev.Stream) lspdev.Conn     { return lspdev.NewConn(s) }
func lspdevPipeline(s lspdev.Stream) lspdev.Conn { return lspdev.NewPipelineClient(s) }

func lspDev(name string, open func(lspdev.Stream) lspdev.Conn, buffered bool) Peer {
	return Peer{
		Name: name, Class: JSON, Server: server.Lines, Timeouts: "context",
		Open: func(link Link) (Client, error) {
			stream, err := link.Dial()
			if err != nil {
				return Client{}, err
			}
			if buffered {
				stream = gather(stream)
			}
			c := open(lspdev.NewNDJSONStream(stream))
			c.Go(context.Background(), lspdev.MethodNotFoundHandler)
			return calling(c, false, func(ctx context.Context, method string, params json.RawMessage, result *json.RawMessage) error {
				_, err := c.Call(ctx, method, params, result)
				return err
			}), nil
		},
	}
}

// gatherMax is how many bytes may wait to be written.
const gatherMax = 4 << 20

// gathering is a stream whose writes are done by one goroutine, all that wait in
// one call.
type gathering struct {
	io.ReadWriteCloser
	mu           sync.Mutex
	room, work   sync.Cond
	waits, spare []byte
	err          error
}

func gather(stream io.ReadWriteCloser) io.ReadWriteCloser {
	g := &gathering{ReadWriteCloser: stream}
	g.room.L, g.work.L = &g.mu, &g.mu
	go g.write()
	return g
}

// Write takes p, and reports what an earlier one ran into.
func (g *gathering) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.waits) > gatherMax && g.err == nil {
		g.room.Wait()
	}
	if g.err != nil {
		return 0, g.err
	}
	g.waits = append(g.waits, p...)
	g.work.Signal()
	return len(p), nil
}

func (g *gathering) write() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		for len(g.waits) == 0 && g.err == nil {
			g.work.Wait()
		}
		if g.err != nil {
			return
		}
		g.mu.Unlock()
		runtime.Gosched() // let others join
		g.mu.Lock()
		batch := g.waits
		g.waits = g.spare[:0]
		g.mu.Unlock()
		_, err := g.ReadWriteCloser.Write(batch)
		g.mu.Lock()
		g.spare = batch
		g.err = err
		g.room.Broadcast()
	}
}

// Close closes the stream and ends the writer.
func (g *gathering) Close() error {
	g.mu.Lock()
	if g.err == nil {
		g.err = io.ErrClosedPipe
	}
	g.work.Broadcast()
	g.room.Broadcast()
	g.mu.Unlock()
	return g.ReadWriteCloser.Close()
}
