package status

import (
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/correlator-go/correlator/gateway"
)

// meters are what the page shows of each upstream.
type meters struct {
	now func() time.Time
	mu  sync.RWMutex // guards all
	all map[string]*meter
}

func (m *meters) of(upstream string) *meter {
	m.mu.RLock()
	one := m.all[upstream]
	m.mu.RUnlock()
	if one != nil {
		return one
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if one = m.all[upstream]; one == nil {
		if m.all == nil {
			m.all = make(map[string]*meter)
		}
		one = &meter{now: m.now, errors: make(map[string]uint64)}
		m.all[upstream] = one
	}
	return one
}

// window is how far rate and percentiles look back, in seconds.
const window = 30

// meter is one upstream, of late and since the start.
type meter struct {
	now func() time.Time

	mu      sync.Mutex // guards the fields below
	seconds [window]second
	errors  map[string]uint64
	late    uint64
	noise   uint64 // frames that were no messages
	opened  uint64
	lastErr string
}

// second is what ended in one second.
type second struct {
	at    int64 // Unix
	calls uint32
	took  [buckets]uint32
}

// Buckets of a time are quarters of a power of two of microseconds: 19 % wide at most.
const buckets = 128

func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	if us < 4 {
		return int(us)
	}
	exponent := bits.Len64(us) - 1
	return min(4*(exponent-1)+int(us>>(exponent-2)&3), buckets-1)
}

// upper is the end of a bucket, in milliseconds.
func upper(bucket int) float64 {
	if bucket < 4 {
		return float64(bucket+1) / 1000
	}
	exponent, quarter := bucket/4+1, bucket%4
	return math.Ldexp(float64(5+quarter)/4, exponent) / 1000
}

func (m *meter) call(e *gateway.Event) {
	now := m.now().Unix()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.seconds[now%window]
	if s.at != now {
		*s = second{at: now}
	}
	s.calls++
	s.took[bucketOf(e.Waited+e.Took)]++
	if failed(e) {
		m.errors[errorType(e)]++
	}
}

func (m *meter) up() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened++
}

func (m *meter) down(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.lastErr = err.Error()
	}
}

func (m *meter) dropped(r gateway.Reason) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r {
	case gateway.LateAnswer, gateway.LateProgress:
		m.late++
	case gateway.UnreadableServer:
		m.noise++
	}
}

// reading is a meter at one moment.
type reading struct {
	perSecond, p50, p99 float64
	errors              map[string]uint64
	late, noise, opened uint64
	lastErr             string
}

func (m *meter) read() reading {
	now := m.now().Unix()
	m.mu.Lock()
	defer m.mu.Unlock()
	r := reading{late: m.late, noise: m.noise, opened: m.opened, lastErr: m.lastErr, errors: make(map[string]uint64)}
	for kind, n := range m.errors {
		r.errors[kind] = n
	}
	var sum [buckets]uint64
	var calls, all uint64
	const rateWindow = 5 // whole seconds, without the one that goes on
	for i := range m.seconds {
		s := &m.seconds[i]
		if s.at == 0 || now-s.at >= window {
			continue
		}
		if age := now - s.at; age >= 1 && age <= rateWindow {
			calls += uint64(s.calls)
		}
		for k, n := range s.took {
			sum[k] += uint64(n)
			all += uint64(n)
		}
	}
	r.perSecond = float64(calls) / rateWindow
	r.p50, r.p99 = percentile(&sum, all, 0.5), percentile(&sum, all, 0.99)
	return r
}

func percentile(sum *[buckets]uint64, all uint64, p float64) float64 {
	if all == 0 {
		return 0
	}
	want := uint64(math.Ceil(p * float64(all)))
	for k, n := range sum {
		if want <= n {
			return upper(k)
		}
		want -= n
	}
	return upper(buckets - 1)
}
