package gateway

import (
	"fmt"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
)

// Breaker refuses calls of an upstream that does not answer, so that nobody waits for
// nothing, and lets one through now and then to see whether it does again. An error of
// the upstream is an answer.
type Breaker struct {
	// Failures is how many calls in a row must expire or be lost. Zero is no breaker.
	Failures int
	// Delay is how long calls are refused then. Zero is DefaultBreakerDelay.
	Delay time.Duration
}

// DefaultBreakerDelay is how long an upstream that does not answer is left alone.
const DefaultBreakerDelay = 5 * time.Second

// breaker is nil where there is none.
type breaker struct {
	circuit circuitbreaker.CircuitBreaker[any]
}

func newBreaker(o Breaker) *breaker {
	if o.Failures <= 0 {
		return nil
	}
	if o.Delay <= 0 {
		o.Delay = DefaultBreakerDelay
	}
	return &breaker{circuitbreaker.NewBuilder[any]().WithFailureThreshold(uint(o.Failures)).WithSuccessThreshold(1).WithDelay(o.Delay).Build()}
}

// refuses says why a call may not go to the upstream now, nil if it may. Then note
// follows.
func (b *breaker) refuses(upstream string) *Failure {
	if b == nil || b.circuit.TryAcquirePermit() {
		return nil
	}
	again := max(b.circuit.RemainingDelay(), retryAfter)
	return &Failure{
		Code: CodeUpstreamLost, Upstream: upstream, RetryAfter: again,
		Text: fmt.Sprintf("upstream %q has not answered lately and is left alone for %v", upstream, again.Round(time.Millisecond)),
	}
}

// note tells how a call ended that was let through. One that was cancelled, or refused
// by the gateway itself, says nothing of the upstream.
func (b *breaker) note(o Outcome) {
	switch {
	case b == nil:
	case o == Expired || o == Lost:
		b.circuit.RecordFailure()
	case o == Answered || o == Failed:
		b.circuit.RecordSuccess()
	case b.circuit.IsHalfOpen():
		b.circuit.RecordFailure() // the one that was let through to see has seen nothing
	}
}
