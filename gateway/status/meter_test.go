package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
)

// A bucket's end is not below what is in it, and at most a quarter above.
func TestBuckets(t *testing.T) {
	last := -1
	for d := time.Microsecond; d < 10*time.Minute; d += d/7 + time.Microsecond {
		b := bucketOf(d)
		require.GreaterOrEqual(t, b, last)
		last = b
		ms := float64(d) / float64(time.Millisecond)
		require.GreaterOrEqual(t, upper(b), ms*0.999)
		if d > 8*time.Microsecond {
			require.LessOrEqual(t, upper(b), ms*1.26, d)
		}
	}
	require.Less(t, bucketOf(1<<62), buckets)
	require.Zero(t, bucketOf(-1))
}

// Rate and percentiles forget, errors do not.
func TestMeterForgets(t *testing.T) {
	now := time.Unix(1000, 0)
	m := (&meters{now: func() time.Time { return now }}).of("u")
	for i := range 100 {
		took := time.Millisecond
		if i >= 98 {
			took = time.Second
		}
		m.call(&gateway.Event{Outcome: gateway.Answered, Took: took})
	}
	m.call(&gateway.Event{Outcome: gateway.Expired, Took: time.Millisecond})
	require.Zero(t, m.read().perSecond, "the second goes on")
	now = now.Add(time.Second)
	r := m.read()
	require.InDelta(t, 101.0/5, r.perSecond, 0.01)
	require.InDelta(t, 1, r.p50, 0.3)
	require.InDelta(t, 1000, r.p99, 260)
	require.Equal(t, map[string]uint64{"timeout": 1}, r.errors)
	now = now.Add(10 * time.Second)
	require.Zero(t, m.read().perSecond)
	require.NotZero(t, m.read().p50)
	now = now.Add(time.Minute)
	r = m.read()
	require.Zero(t, r.p50)
	require.Equal(t, map[string]uint64{"timeout": 1}, r.errors)
}
