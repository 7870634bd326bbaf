package conn

import (
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// watched is a keepAlive on a manual clock that notes what it does.
type watched struct {
	*keepAlive
	clock *engine.ManualClock
	pings int
	end   error
}

func watch(every, limit time.Duration) *watched {
	w := &watched{clock: engine.NewManualClock()}
	w.keepAlive = newKeepAlive("", every, limit, w.clock)
	w.start(func() { w.pings++ }, func(err error) { w.end = err })
	return w
}

// hear brings a byte.
func (w *watched) hear() {
	_, _ = w.listen(iotest.OneByteReader(strings.NewReader("x"))).Read(make([]byte, 1))
}

func TestKeepAlivePingsWhenIdle(t *testing.T) {
	w := watch(10*time.Second, 3*time.Second)
	w.clock.Advance(10*time.Second - 1)
	require.Zero(t, w.pings)
	w.clock.Advance(1)
	require.Equal(t, 1, w.pings)
	w.hear() // at the very moment of the ping
	for range 5 {
		w.clock.Advance(9 * time.Second)
		w.hear()
	}
	require.Equal(t, 1, w.pings, "a link that is used needs no ping")
	w.clock.Advance(10 * time.Second)
	require.Equal(t, 2, w.pings)
	require.NoError(t, w.end)
}

func TestKeepAliveEndsSilence(t *testing.T) {
	w := watch(10*time.Second, 3*time.Second)
	w.clock.Advance(4 * time.Second)
	w.hear()
	w.clock.Advance(13*time.Second - 1)
	require.NoError(t, w.end)
	w.clock.Advance(1)
	silent, ok := w.end.(*PeerSilent)
	require.True(t, ok)
	require.Equal(t, PeerSilent{Method: "ping", Silence: 13 * time.Second, Limit: 3 * time.Second}, *silent)
	require.True(t, silent.Timeout())
	require.Equal(t, `conn: peer silent for 13s: no byte within 3s of "ping"`, silent.Error())
	w.clock.Advance(time.Hour)
	require.Equal(t, 1, w.pings, "it is over")
}

func TestKeepAliveAnyByteIsLife(t *testing.T) {
	w := watch(10*time.Second, 3*time.Second)
	for i := range 10 {
		w.clock.Advance(10 * time.Second)
		require.Equal(t, i+1, w.pings)
		w.clock.Advance(3*time.Second - 1)
		w.hear() // in the last moment
	}
	require.NoError(t, w.end)
}

func TestKeepAliveLimitLongerThanPause(t *testing.T) {
	w := watch(time.Second, 10*time.Second)
	w.clock.Advance(11*time.Second - 1)
	require.NoError(t, w.end)
	require.Equal(t, 1, w.pings, "one ping at a time")
	w.clock.Advance(1)
	require.Error(t, w.end)
}

func TestKeepAliveStops(t *testing.T) {
	w := watch(time.Second, time.Second)
	w.stop()
	w.clock.Advance(time.Hour)
	require.Zero(t, w.pings)
	require.NoError(t, w.end)
}

func TestKeepAliveOff(t *testing.T) {
	k := newKeepAlive("", 0, 0, engine.NewManualClock())
	require.Nil(t, k)
	r := strings.NewReader("x")
	require.Equal(t, r, k.listen(r))
	k.start(nil, nil)
	k.stop()
}
