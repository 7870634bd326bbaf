package limit

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Rates bounds how fast each client may ask. All methods are safe for concurrent use.
// A nil Rates lets all pass.
type Rates struct {
	bounded atomic.Bool // spares all others a look at the rest

	mu      sync.Mutex // guards the fields below
	limit   rate.Limit // zero is no bound
	burst   int
	clients map[Client]*rate.Limiter
	sweep   time.Duration // when to look for those who have not asked for long
}

// sweepEvery is how often clients are forgotten that ask no more.
const sweepEvery = time.Minute

// NewRates makes one. perSecond zero or negative is no bound. Burst is how many may come
// at once after none for a while; less than one is as many as come in a second.
func NewRates(perSecond float64, burst int) *Rates {
	r := &Rates{clients: make(map[Client]*rate.Limiter)}
	r.Set(perSecond, burst, 0)
	return r
}

// Set replaces the bounds; each client keeps what it has used up of the old ones.
func (r *Rates) Set(perSecond float64, burst int, now time.Duration) {
	if burst < 1 {
		burst = max(1, int(perSecond))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit, r.burst = rate.Limit(max(0, perSecond)), burst
	if r.limit == 0 {
		clear(r.clients)
	}
	for _, l := range r.clients {
		l.SetLimitAt(epoch.Add(now), r.limit)
		l.SetBurstAt(epoch.Add(now), burst)
	}
	r.bounded.Store(r.limit > 0)
}

// epoch is where time begins for package rate.
var epoch = time.Unix(0, 0)

// Allow notes a call of c, whatever its session, and reports whether it may go on; if
// not, in how long it may.
func (r *Rates) Allow(c Client, now time.Duration) (ok bool, retryAfter time.Duration) {
	if r == nil || !r.bounded.Load() {
		return true, 0
	}
	at := epoch.Add(now)
	l := r.of(c.who(), now, at)
	if l == nil {
		return true, 0
	}
	reserved := l.ReserveN(at, 1)
	wait := reserved.DelayFrom(at)
	if wait <= 0 {
		return true, 0
	}
	reserved.CancelAt(at)
	return false, wait
}

// of gives the limiter of c, nil if there is no bound any more, and forgets those which
// are as good as new.
func (r *Rates) of(c Client, now time.Duration, at time.Time) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limit == 0 {
		return nil
	}
	if now >= r.sweep {
		for other, l := range r.clients {
			if l.TokensAt(at) >= float64(r.burst) {
				delete(r.clients, other)
			}
		}
		r.sweep = now + sweepEvery
	}
	l := r.clients[c]
	if l == nil {
		l = rate.NewLimiter(r.limit, r.burst)
		r.clients[c] = l
	}
	return l
}
