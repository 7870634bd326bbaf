package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rates bounds how fast each client may ask. All methods are safe for concurrent use.
// A nil Rates lets all pass.
type Rates struct {
	limit rate.Limit
	burst int

	mu      sync.Mutex // guards clients and sweep
	clients map[Client]*rate.Limiter
	sweep   time.Duration // when to look for those who have not asked for long
}

// sweepEvery is how often clients are forgotten that ask no more.
const sweepEvery = time.Minute

// NewRates makes one; nil if perSecond is zero or negative, which is no bound. Burst is
// how many may come at once after none for a while; less than one is as many as come
// in a second.
func NewRates(perSecond float64, burst int) *Rates {
	if perSecond <= 0 {
		return nil
	}
	if burst < 1 {
		burst = max(1, int(perSecond))
	}
	return &Rates{limit: rate.Limit(perSecond), burst: burst, clients: make(map[Client]*rate.Limiter)}
}

// epoch is where time begins for package rate.
var epoch = time.Unix(0, 0)

// Allow notes a call of c and reports whether it may go on; if not, when it may.
func (r *Rates) Allow(c Client, now time.Duration) (ok bool, retryAfter time.Duration) {
	if r == nil {
		return true, 0
	}
	at := epoch.Add(now)
	l := r.of(c, now, at)
	reserved := l.ReserveN(at, 1)
	wait := reserved.DelayFrom(at)
	if wait <= 0 {
		return true, 0
	}
	reserved.CancelAt(at)
	return false, wait
}

// of gives the limiter of c, and forgets those which are as good as new.
func (r *Rates) of(c Client, now time.Duration, at time.Time) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
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
