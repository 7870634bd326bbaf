package conn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Large requests and notifications are bounded by their bytes, long before their
// number is.
func TestQueuedFramesAreBoundedByBytes(t *testing.T) {
	pad := strings.Repeat("x", 400)
	request := func(id int, pad string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":[%q]}`, id, pad)
	}
	note := fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":[%q]}`, pad)

	t.Run("requests", func(t *testing.T) {
		release := make(chan struct{})
		c, p := connect(t, conn.Options{MaxConcurrent: 1, MaxQueuedBytes: 1000, Handler: handler(func(r *conn.Inbound) {
			<-release
			_ = r.Reply([]byte(`"ok"`))
		})})
		p.send(request(1, pad), request(2, pad), request(3, pad))
		refused := p.read()
		require.Equal(t, "3", string(refused.ID))
		require.NotNil(t, refused.Error)
		require.Equal(t, codec.CodeInternal, refused.Error.Code)
		require.EqualValues(t, 1, c.Stats().Overloaded)
		close(release)
		require.ElementsMatch(t, []string{"1", "2"}, []string{string(p.read().ID), string(p.read().ID)})

		p.send(request(4, strings.Repeat(pad, 10)))
		require.Equal(t, `"ok"`, string(p.read().Result), "the places are free again, and one alone passes")
	})

	t.Run("notifications", func(t *testing.T) {
		seen := newStrays()
		release := make(chan struct{})
		c, p := connect(t, conn.Options{MaxQueuedBytes: 1000, OnStray: seen.hook, Handler: handler(func(*conn.Inbound) { <-release })})
		p.send(note, note, note, note) // one is handled, two wait
		require.Equal(t, conn.StrayNotification, (<-seen.c).Reason)
		requireWorks(t, c, p)
		require.EqualValues(t, 1, c.Stats().Overloaded)
		close(release)
	})
}
