package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

const (
	leaverCalls = 200_000 // pending, of the client that goes
	stayerCalls = 3_000   // one a millisecond, of the client that stays
)

// leaverClaims are about a client with very many calls that goes, and comes back to
// go again: another's calls through the same table do not feel it.
func leaverClaims() []claim.Claim {
	series := func(s *claim.Session) (*claim.Series, error) {
		return s.SeriesOf("leaver", 3, role(s, engineName, "leaver"))
	}
	return []claim.Claim{
		{Area: engineArea, Name: "200,000 calls of one client end: p99.9 of another's, 1,000 a second", Bound: claim.AtMost, Demand: 5e6, Unit: "ns",
			Measure: func(s *claim.Session) (float64, error) {
				r, err := series(s)
				return r.Median("p99.9", engineName), err
			}},
		{Area: engineArea, Name: "200,000 calls of one client end: how often meanwhile", Unit: "times",
			Measure: func(s *claim.Session) (float64, error) {
				r, err := series(s)
				return r.Median("left", engineName), err
			}},
	}
}

// leaverRole has one client make calls on schedule while all of another's end, again
// and again. The index begins small, so that it has grown, and could shrink.
//
// A call is timed from when it was due, so that one that is stuck tells in those
// behind it; what the timer that paces them is late by is taken off the schedule.
func leaverRole([]string) (claim.Values, error) {
	many, n := max(1000, int(leaverCalls*pace)), max(100, int(stayerCalls*pace))
	o := options(many)
	o.CallerIDs = true
	e := must(engine.New(o))
	defer e.Close()
	ids := make([]codec.ID, many)
	for i := range ids {
		ids[i] = codec.StringID("leaver-" + strconv.Itoa(i))
	}
	begin := func(id codec.ID, discard bool) (call, error) {
		o := full()
		o.Discard = discard
		return e.Register(background, id, o)
	}
	var (
		over   atomic.Bool
		left   int
		failed error
		leaver sync.WaitGroup
		ready  = make(chan struct{})
	)
	leaver.Go(func() {
		for ; left == 0 || !over.Load(); left++ {
			for _, id := range ids {
				if _, err := begin(id, true); err != nil && failed == nil {
					failed = err
				}
			}
			if left == 0 {
				close(ready)
			}
			for _, id := range ids {
				e.Cancel(id, nil)
			}
		}
	})
	<-ready
	took := make([]float64, n)
	start, due := time.Now(), time.Duration(0)
	for i := range took {
		due += time.Millisecond
		if ahead := due - time.Since(start); ahead > 0 {
			time.Sleep(ahead)
			due = time.Since(start)
		}
		id := codec.StringID("stayer-" + strconv.Itoa(i))
		c, err := begin(id, false)
		if err != nil {
			return nil, err
		}
		if !e.Resolve(id, nil) {
			return nil, fmt.Errorf("%v is lost", id)
		}
		if _, err := c.Wait(background); err != nil {
			return nil, err
		}
		took[i] = float64(time.Since(start) - due)
	}
	over.Store(true)
	leaver.Wait()
	slices.Sort(took)
	return claim.Values{"p99.9": took[int(math.Ceil(0.999*float64(n)))-1], "left": float64(left)}, failed
}
