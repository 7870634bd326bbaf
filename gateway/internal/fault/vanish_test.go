package fault_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/residue"
)

// A client vanishes with a thousand calls in flight: each of them is cancelled at the
// server, once and under its own number, what the server says of them later is nobody's,
// and another client's call goes on.
func TestClientVanishes(t *testing.T) {
	const calls = 1000
	p := newPuppet(t)
	b := lay(t, gateway.Upstream{Isolation: gateway.Shared}, gateway.Options{}, downstream.Options{Conn: conn.Options{CloseTimeout: 10 * time.Millisecond}}, p.serve)
	stays, goes := b.caller(t), b.caller(t)
	stays.ask("1", "m")
	its := p.next()
	var many strings.Builder
	for n := range calls {
		_, _ = fmt.Fprintf(&many, `{"jsonrpc":"2.0","id":%d,"method":"m","params":{"_meta":{"progressToken":%d}}}`+"\n", n, n)
	}
	_, err := goes.conn.Write([]byte(many.String()))
	require.NoError(t, err)
	open, one := map[string]bool{}, ""
	for range calls {
		one = p.next().id
		open[one] = true
	}
	require.Len(t, open, calls)
	require.NoError(t, goes.conn.Close())
	for range calls {
		r := p.next()
		require.Equal(t, "notifications/cancelled", r.method)
		require.True(t, open[r.cancels], "%s is cancelled twice, or was never asked", r.cancels)
		delete(open, r.cancels)
	}
	for id := range open {
		require.Fail(t, "not cancelled", id)
	}
	p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+one+`,"progress":1}}`, result(one, "0"))
	stays.ask("2", "m")
	p.say(result(its.id, "0"), result(p.next().id, "0"))
	require.Equal(t, result("1", "0"), stays.hears())
	require.Equal(t, result("2", "0"), stays.hears())
	s := residue.Calls(t, b.g)
	require.EqualValues(t, calls, s.Cancelled)
	require.EqualValues(t, 2, s.Answered)
	require.Equal(t, 1, s.Sessions)
	require.Equal(t, map[gateway.Reason]uint64{gateway.LateProgress: 1, gateway.LateAnswer: 1}, s.Dropped)
}
