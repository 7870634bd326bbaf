package downstream_test

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// A client that closes its stream with a call pending has its call cancelled at the
// server: at once when something is written to it, and after a while, in which it may
// still read, when nothing is.
func TestClientGoesWithCallsPending(t *testing.T) {
	for name, after := range map[string]time.Duration{"told of progress": 0, "in silence": downstream.DefaultPatience} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &fake.Server{}
				g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "tools", Opener: server, Isolation: gateway.Shared, Plain: true}}})
				require.NoError(t, err)
				defer func() { require.NoError(t, g.Close()) }()
				ours, theirs := net.Pipe()
				over := make(chan error, 1)
				go func() { over <- downstream.Serve(context.Background(), g, theirs, "unix", downstream.Options{}) }()
				_, err = io.WriteString(ours, `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"_meta":{"progressToken":7}}}`+"\n")
				require.NoError(t, err)
				way := server.Way(0)
				id, _ := way.NextRequest()
				began := time.Now()
				require.NoError(t, ours.Close())
				synctest.Wait()
				require.Empty(t, way.Cancels(), "it may still read")
				if after == 0 {
					way.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + id + `,"progress":1}}`)
				}
				<-over
				require.Equal(t, after, time.Since(began))
				require.Len(t, way.Cancels(), 1)
				s := g.Stats()
				require.Zero(t, s.InFlight)
				require.Zero(t, s.Sessions)
				require.EqualValues(t, 1, s.Cancelled)
			})
		})
	}
}
