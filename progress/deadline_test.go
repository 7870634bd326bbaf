package progress_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/progress"
)

const ms = time.Millisecond

// drive walks a deadline in steps of 1 ms and reports when and how it ended.
func drive(t *testing.T, p progress.Policy, every time.Duration) (time.Duration, error) {
	t.Helper()
	d, err := progress.NewDeadline(0, p)
	require.NoError(t, err)
	for now := ms; now < time.Hour; now += ms {
		if err := d.Err(now); err != nil {
			return now, err
		}
		if every > 0 && now%every == 0 {
			d.Touch(now)
		}
	}
	t.Fatal("it never expired")
	return 0, nil
}

// The total maximum counts from the start, progress or none.
func TestX09TotalCap(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy progress.Policy
		every  time.Duration
		at     time.Duration
		err    error
	}{
		{"cap below the timeout, silence", progress.Policy{Timeout: 1000 * ms, MaxTotal: 150 * ms}, 0, 150 * ms, progress.ErrTotalExpired},
		{"no timeout, silence", progress.Policy{MaxTotal: 400 * ms}, 0, 400 * ms, progress.ErrTotalExpired},
		{"progress up to the cap", progress.Policy{Timeout: 100 * ms, MaxTotal: 400 * ms, ResetOnProgress: true}, 50 * ms, 400 * ms, progress.ErrTotalExpired},
		{"silence", progress.Policy{Timeout: 100 * ms, MaxTotal: 400 * ms, ResetOnProgress: true}, 0, 100 * ms, progress.ErrExpired},
		{"off by default", progress.Policy{Timeout: 100 * ms}, 50 * ms, 100 * ms, progress.ErrExpired},
		{"too slow", progress.Policy{Timeout: 100 * ms, ResetOnProgress: true}, 150 * ms, 100 * ms, progress.ErrExpired},
		{"the default cap", progress.Policy{Timeout: 100 * ms, ResetOnProgress: true}, 50 * ms, 10 * time.Minute, progress.ErrTotalExpired},
	} {
		at, err := drive(t, c.policy, c.every)
		require.Equal(t, c.at, at, c.name)
		require.ErrorIs(t, err, c.err, c.name)
	}
}

func TestDeadlineNeverMovesBack(t *testing.T) {
	d, err := progress.NewDeadline(time.Second, progress.Policy{Timeout: time.Second, ResetOnProgress: true})
	require.NoError(t, err)
	d.Touch(1900 * ms)
	require.Equal(t, 2900*ms, d.At())
	d.Touch(1500 * ms) // a clock that stepped back
	require.Equal(t, 2900*ms, d.At())
	d.Touch(2900 * ms) // too late
	require.Equal(t, 2900*ms, d.At())
	require.ErrorIs(t, d.Err(2900*ms), progress.ErrExpired)
}

func TestDeadlineDoesNotWrap(t *testing.T) {
	d, err := progress.NewDeadline(math.MaxInt64-5, progress.Policy{Timeout: time.Hour, MaxTotal: time.Hour, ResetOnProgress: true})
	require.NoError(t, err)
	require.Equal(t, time.Duration(math.MaxInt64), d.At())
	require.NoError(t, d.Err(math.MaxInt64-1))
}

func TestDeadlineOptions(t *testing.T) {
	for _, p := range []progress.Policy{{Timeout: -1}, {MaxTotal: -1}} {
		_, err := progress.NewDeadline(0, p)
		require.Error(t, err)
	}
}
