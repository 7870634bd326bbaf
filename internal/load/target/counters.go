package target

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
)

// pollEvery is the pace at which Settled asks again.
const pollEvery = 20 * time.Millisecond

// countersTimeout bounds the wait for a server to tell its counters.
const countersTimeout = 10 * time.Second

// Counts reads the counters of the echo server at the other end: directly behind
// pipe:echo, elsewhere by a request. Children are asked each, and summed.
func (t *Target) Counts(ctx context.Context) (echo.Counts, error) {
	if t.Echo != nil {
		return t.Echo.Snapshot(), nil
	}
	if !t.apart {
		return t.ask(ctx, t.Conns[0])
	}
	var sum echo.Counts
	for _, c := range t.Conns {
		n, err := t.ask(ctx, c)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(n)
	}
	return sum, nil
}

func (t *Target) ask(ctx context.Context, c drive.Link) (echo.Counts, error) {
	result, err := c.Call(ctx, echo.CountersMethod, nil, conn.CallOptions{Timeout: countersTimeout})
	if err != nil {
		return echo.Counts{}, fmt.Errorf("%s: %w (only loadgen serve knows it)", echo.CountersMethod, err)
	}
	t.asked++
	var n echo.Counts
	if err := json.Unmarshal(result, &n); err != nil {
		return echo.Counts{}, fmt.Errorf("%s: %w", echo.CountersMethod, err)
	}
	return n, nil
}

// Asked is how many calls that were answered Counts has made over the connections.
func (t *Target) Asked() int64 { return t.asked }

// Settled is Counts once the server holds nothing back any more and seen, which is
// shown every reading, says that what it sent has come; or the last reading within
// most. An error means that there was none.
func (t *Target) Settled(ctx context.Context, most time.Duration, seen func(echo.Counts) bool) (echo.Counts, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var last echo.Counts
	for read := false; ; read = true {
		n, err := t.Counts(ctx)
		switch {
		case err != nil && read && ctx.Err() != nil:
			return last, nil
		case err != nil:
			return n, err
		case seen(n) && n.Held == 0:
			return n, nil
		}
		last = n
		timer := time.NewTimer(pollEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			return n, nil
		case <-timer.C:
		}
	}
}
