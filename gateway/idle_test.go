package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
)

// halfClosed is a client that has closed its side and reads: its transport lets go of it
// as soon as the session is idle, so nothing can be sent after that.
type halfClosed struct {
	*fake.Client
	idle <-chan struct{}
	late int
}

func (c *halfClosed) Send(f *link.Frame, b *link.Burst) error {
	select {
	case <-c.idle:
		c.late++
	default:
	}
	return c.Client.Send(f, b)
}

// A session is idle when the last answer is on its way, not before: else the answer would
// meet a connection that is being closed.
func TestIdleAfterTheAnswer(t *testing.T) {
	g, server := start(t, shared())
	for _, answer := range []string{`"result":{}`, `"error":{"code":1,"message":"no"}`, `"neither":1`, ``} {
		c := &halfClosed{Client: &fake.Client{Who: link.Peer{Transport: "fake"}}}
		s := g.Join(c)
		c.Join(s)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}`))
		way := server.Way(0)
		first, _ := way.NextRequest()
		second, _ := way.NextRequest()
		c.idle = s.Idle()
		for _, number := range []string{first, second} {
			select {
			case <-c.idle:
				require.Fail(t, "a call is in flight")
			default:
			}
			if answer != "" {
				way.Say(`{"jsonrpc":"2.0","id":` + number + `,` + answer + `}`)
				require.Contains(t, c.Next(), `"jsonrpc"`)
			}
		}
		if answer == "" { // no answer is owed for what was cancelled
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`))
		}
		<-c.idle
		require.Zero(t, c.late)
		s.Gone(gateway.ErrClosed)
	}
}
