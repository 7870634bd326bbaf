package fault_test

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/upstream"
)

// bed is a gateway between unix sockets, with a server that serve plays.
type bed struct {
	g       *gateway.Gateway
	clients string
}

// slack is how many bytes may stay live after a fault, while the gateway itself does: the
// room of its tables, 128 bytes for each of the calls that were in flight at once, 16,000
// at most. What is in flight during one is tens of megabytes.
const slack = 3 << 20

// lay makes a bed. serve gets each connection of the gateway to the server. After the test
// the counters must add up, and nothing that it took may be left.
func lay(t *testing.T, u gateway.Upstream, o gateway.Options, down downstream.Options, serve func(net.Conn)) *bed {
	t.Helper()
	base := residue.Measure()
	dir := t.TempDir()
	server, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	u.Name, u.Plain = "tools", true
	if u.Opener == nil {
		u.Opener = upstream.Dial("unix", server.Addr().String(), conn.Options{})
	}
	o.Upstreams = []gateway.Upstream{u}
	g, err := gateway.New(o)
	require.NoError(t, err)
	l, err := net.Listen("unix", filepath.Join(dir, "c"))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = downstream.Listen(ctx, g, l, down)
	}()
	t.Cleanup(func() {
		stop()
		_ = g.Close()
		<-over
		_ = server.Close()
		serving.Wait()
		residue.Ended(t, g)
		base.Returns(t, slack)
	})
	return &bed{g, l.Addr().String()}
}

// dial is a raw client.
func (b *bed) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", b.clients)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// lines reads messages until the stream ends.
func lines(r io.Reader, each func(m *codec.Message) bool) {
	frames := codec.NewReader(r, codec.ReaderOptions{Framer: codec.LineFramer{}})
	var m codec.Message
	for frames.ReadMessage(&m) == nil {
		if !each(&m) {
			return
		}
	}
}
