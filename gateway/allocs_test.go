package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/internal/invariants"
)

// bare is a server, and a client, that keep nothing: what they are asked is answered
// before Send returns.
type bare struct {
	owner  link.Owner
	heard  int
	answer []byte
}

func (b *bare) Open(_ context.Context, o link.Owner, _ link.Key) (link.Upstream, error) {
	b.owner = o
	return b, nil
}

func (b *bare) String() string { return "bare" }

func (b *bare) Send(f *link.Frame, _ *link.Burst) error {
	if f.Call == 0 || !b.owner.Dispatch(f.Call) {
		return nil
	}
	b.answer = codec.AppendResult(b.answer[:0], codec.IntID(f.Call).Append(nil), []byte("{}"))
	m, err := codec.Parse(b.answer, codec.ScanOptions{})
	if err != nil {
		return err
	}
	return b.owner.Receive(nil, &m)
}

func (b *bare) Cancel(int64, link.Cancel) {}
func (b *bare) End(error)                 { go b.owner.Gone(nil) }

// listener is a client at an address of each kind.
type listener struct {
	bare
	peer    link.Peer
	session *gateway.Session
}

func (l *listener) Send(*link.Frame, *link.Burst) error {
	l.heard++
	return nil
}
func (l *listener) Queued() (bytes, bound int64) { return 0, 1 << 20 }
func (l *listener) Peer() link.Peer              { return l.peer }
func (l *listener) End(why error)                { go l.session.Gone(why) }

// A call allocates itself, and what it waits as if it has to; whoever the client is,
// whichever limits there are.
func TestCallAllocates(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("the race detector and invariants allocate")
	}
	for _, peer := range []link.Peer{
		{Transport: "unix", Address: "@"}, {Transport: "tcp", Address: "192.0.2.1:4711"}, {Transport: "tcp", Address: "[2001:db8::1]:4711"}, {Transport: "http", Identity: "alice", Address: "192.0.2.1:4711"},
	} {
		t.Run(peer.Transport+" "+peer.Address, func(t *testing.T) {
			server := &bare{}
			u := gateway.Upstream{Name: "bare", Opener: server, Isolation: gateway.Shared, Plain: true}
			u.Limit.MaxInFlight = 10
			g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}, Rate: 1e9, Burst: 1e9})
			require.NoError(t, err)
			over(t, g)
			c := &listener{peer: peer}
			c.session = g.Join(c)
			m, err := codec.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1}}}`), codec.ScanOptions{})
			require.NoError(t, err)
			require.NoError(t, c.session.Receive(nil, &m))
			require.Eventually(t, func() bool { return g.Stats().Answered == 1 }, time.Minute, time.Millisecond)
			before := c.heard
			const calls = 1000
			allocs := testing.AllocsPerRun(calls, func() {
				if err := c.session.Receive(nil, &m); err != nil {
					t.Error(err)
				}
			})
			require.Equal(t, before+calls+1, c.heard)
			// The server of this test allocates once: the number that it answers.
			require.LessOrEqual(t, allocs, 2.0+1)
		})
	}
}
