package limit

import "time"

// Bounds of what clients are told of when to come back.
const (
	RetryMin = 100 * time.Millisecond
	RetryMax = 30 * time.Second
	// retryUnknown is told before anybody has left.
	retryUnknown = time.Second
)

// pace is how fast places come free while somebody waits: the mean time between two,
// the latest sixteen counting most.
type pace struct {
	at   time.Duration
	mean time.Duration
}

func (p *pace) left(now time.Duration) {
	if gap := now - p.at; p.at != 0 && gap < RetryMax {
		if p.mean == 0 {
			p.mean = gap
		}
		p.mean += (gap - p.mean) / 16
	}
	p.at = now
}

// last is in how long the last of n gets a place.
func (p *pace) last(n int) time.Duration {
	if p.mean == 0 {
		return retryUnknown
	}
	if int64(n) > int64(RetryMax/p.mean) {
		return RetryMax
	}
	return max(RetryMin, p.mean*time.Duration(n))
}
