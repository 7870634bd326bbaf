package conn_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// collect runs the garbage collector until stop is called.
func collect() (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			default:
				runtime.GC()
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

func TestHandlerThatReturnsWithoutAnAnswerIsCounted(t *testing.T) {
	c, p := connect(t, conn.Options{Handler: handler(func(r *conn.Inbound) {
		if r.Method() == "panics" {
			panic("no")
		}
	})})
	for _, method := range []string{"forgets", "panics"} {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no answer"}}`, p.line())
	}
	p.send(`{"jsonrpc":"2.0","method":"forgets"}`) // a notification wants none
	requireWorks(t, c, p)
	require.EqualValues(t, 2, c.Stats().Unanswered)
}

// A request that was detached and that nobody has any more is answered in the end,
// also when its context is still waited on.
func TestDetachedRequestThatIsDroppedIsAnswered(t *testing.T) {
	for _, inline := range []bool{false, true} {
		contexts := make(chan context.Context, 8)
		c, p := connect(t, conn.Options{
			Inline: inline, Profile: codec.JSONRPC, Batches: conn.SplitBatches,
			Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
				r.Detach()
				ctx.Done()
				contexts <- ctx
			}),
		})
		stop := collect()
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no answer"}}`, p.line())
		<-(<-contexts).Done()
		p.send(`{"jsonrpc":"2.0","id":null,"method":"m"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no answer"}}`, p.line())
		p.send(`[{"jsonrpc":"2.0","id":1,"method":"m"}]`)
		require.Equal(t, `[{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no answer"}}]`, p.line())
		stop()
		require.EqualValues(t, 3, c.Stats().Unanswered)
		require.Zero(t, c.Stats().InFlight)
		requireWorks(t, c, p)
	}
}

func TestDetachedRequestThatIsAnsweredIsNotAnsweredAgain(t *testing.T) {
	later := make(chan *conn.Inbound, 1)
	c, p := connect(t, conn.Options{Handler: handler(func(r *conn.Inbound) {
		r.Detach()
		later <- r
	})})
	stop := collect()
	defer stop()
	for range 20 {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		r := <-later
		answered := make(chan error, 1)
		go func() { answered <- r.Reply([]byte("1")) }()
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":1}`, p.line())
		require.NoError(t, <-answered)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
		<-later
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		requireWorks(t, c, p)
	}
	require.Zero(t, c.Stats().Unanswered+uint64(c.Stats().InFlight))
}
