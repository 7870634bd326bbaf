package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/conn"
)

// answered is the method that the silent server answers after all.
const answered = "check/answered"

// leaves is a client with very many calls in flight, which are never answered: role leaver.
func leaves(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	c, err := join(args[0], 1)
	if err != nil {
		return err
	}
	if err := c.hang(n); err != nil {
		return err
	}
	return c.conns[0].Flush(context.Background())
}

// stay is how long a client that stays calls once a millisecond, after another has gone.
const stay = 2 * time.Second

// leaving measures what a client feels of another that is killed with very many calls in
// flight.
func (b *bed) leaving() ([]row, error) {
	var worst []float64
	for range b.rounds {
		p999, err := b.leave()
		if err != nil {
			return nil, fmt.Errorf("a client that leaves: %w", err)
		}
		worst = append(worst, p999)
	}
	return []row{{b.timed(claim.Claim{
		Name: fmt.Sprintf("%d calls of one client end: p99.9 of another's, 1,000 a second", b.leaver), Bound: claim.AtMost, Demand: 5e6, Unit: "ns",
	}), median(worst)}}, nil
}

func (b *bed) leave() (float64, error) {
	leaver, err := beginRole("leaver", b.socket("mute"), strconv.Itoa(b.leaver))
	if err != nil {
		return 0, err
	}
	defer leaver.end()
	if _, err := b.mute.settled(); err != nil {
		return 0, err
	}
	c, err := join(b.socket("mute"), 1)
	defer c.leave()
	if err != nil {
		return 0, err
	}
	if _, err := c.conns[0].Call(context.Background(), answered, nil, conn.CallOptions{Timeout: callTimeout}); err != nil {
		return 0, err
	}
	if err := leaver.cmd.Process.Signal(os.Kill); err != nil {
		return 0, err
	}
	// A call is timed from when it was due, so that one that is stuck tells in those behind
	// it; what the timer that paces them is late by is taken off the schedule.
	var took []float64
	for start, due := time.Now(), time.Duration(0); due < stay; {
		due += time.Millisecond
		if ahead := due - time.Since(start); ahead > 0 {
			sleep(ahead)
			due = time.Since(start)
		}
		if _, err := c.conns[0].Call(context.Background(), answered, nil, conn.CallOptions{Timeout: callTimeout}); err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(start)-due))
	}
	slices.Sort(took)
	return took[int(math.Ceil(0.999*float64(len(took))))-1], nil
}
