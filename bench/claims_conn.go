package bench

import (
	"strconv"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

const (
	connArea          = "conn"
	floorName         = "floor"
	blockingName      = "blocking"
	intoName          = "into" // blocking, with memory for the result
	callbacksConnName = "callbacks"
	batchesName       = "batches"
)

// load is a way of using one connection.
type load struct {
	kind          string
	callers, size int
}

func (l load) String() string {
	return l.kind + " " + strconv.Itoa(l.callers) + "x" + strconv.Itoa(l.size)
}

var (
	floor100B     = load{floorName, 1024, 100}
	blocking100B  = load{blockingName, 1024, 100}
	callbacks100B = load{callbacksConnName, 1024, 100}
	batches100B   = load{batchesName, 1024, 100}
	floor4KiB     = load{floorName, 1024, 4096}
	blocking4KiB  = load{blockingName, 1024, 4096}
	into4KiB      = load{intoName, 1024, 4096}
	blocking10k   = load{blockingName, 10_000, 100}
	floor10k      = load{floorName, 10_000, 100}
	blocking64    = load{blockingName, 64, 100}
	floor64       = load{floorName, 64, 100}
)

// connClaims are about one unix socket to an echo server in a process of its own,
// the same for the connection and for the floor.
func connClaims() []claim.Claim {
	const each = 700 * time.Millisecond
	sockets := onSeries(func(s *claim.Session) (*claim.Series, error) {
		var contenders []claim.Contender
		address, stop, err := s.Serve("echo")
		if err != nil {
			return nil, err
		}
		defer stop()
		for _, l := range []load{floor100B, blocking100B, callbacks100B, batches100B, floor4KiB, blocking4KiB, into4KiB, floor10k, blocking10k, floor64, blocking64} {
			contenders = append(contenders, role(s, l.String(), "conn", l.kind, address,
				strconv.Itoa(l.callers), strconv.Itoa(l.size), each.String()))
		}
		return s.Series("unix socket", contenders...)
	})
	against := func(name string, l, floor load, least float64) claim.Claim {
		return claim.Claim{Area: connArea, Name: name + " against the floor", Bound: claim.AtLeast, Demand: least, Unit: "of its rate",
			Measure: sockets.ratio(l.String(), "calls/s", floor.String(), "calls/s")}
	}
	shown := func(l load) claim.Claim {
		return claim.Claim{Area: connArea, Name: strconv.Itoa(l.callers) + " in flight, " + strconv.Itoa(l.size) + " bytes: " + l.kind, Unit: "calls/s",
			Measure: sockets.median(l.String(), "calls/s")}
	}
	return []claim.Claim{
		shown(floor100B), shown(blocking100B), shown(callbacks100B), shown(batches100B),
		shown(floor4KiB), shown(blocking4KiB), shown(into4KiB), shown(floor10k), shown(blocking10k), shown(floor64), shown(blocking64),
		against("1,024 callers of 100 bytes: blocking", blocking100B, floor100B, 0.55),
		// Callbacks are the way without a wake-up for each call, be they given to
		// Submit, a batch at a time, or to Start, one call from the callback of another.
		// The demand is on the former; both are measured.
		against("1,024 in flight of 100 bytes: callbacks by Submit", batches100B, floor100B, 2),
		{Area: connArea, Name: "1,024 in flight of 100 bytes: callbacks by Start against the floor", Unit: "of its rate",
			Measure: sockets.ratio(callbacks100B.String(), "calls/s", floor100B.String(), "calls/s")},
		against("1,024 callers of 4 KiB: blocking", blocking4KiB, floor4KiB, 0.5),
		// The floor's callers are done with an answer when they ask again, as these are.
		against("1,024 callers of 4 KiB: blocking with Into", into4KiB, floor4KiB, 0.5),
		{Area: connArea, Name: "10,000 callers against 1,024", Bound: claim.AtLeast, Demand: 0.6, Unit: "of its rate",
			Measure: sockets.ratio(blocking10k.String(), "calls/s", blocking100B.String(), "calls/s")},
		{Area: connArea, Name: "1,024 callers of 100 bytes: allocations a call", Bound: claim.AtMost, Demand: 1, Unit: "allocs",
			Measure: sockets.median(blocking100B.String(), "allocs")},
		{Area: connArea, Name: "1,024 callers of 100 bytes: writes a call", Bound: claim.AtMost, Demand: 0.1, Unit: "writes",
			Measure: sockets.median(blocking100B.String(), "writes")},
		{Area: connArea, Name: "1,024 in flight of 100 bytes: allocations of callbacks", Bound: claim.AtMost, Demand: 0.01, Unit: "allocs",
			Measure: sockets.median(callbacks100B.String(), "allocs")},
		{Area: connArea, Name: "the floor's allocations a call", Bound: claim.AtMost, Demand: 0.02, Unit: "allocs",
			Measure: sockets.median(floor100B.String(), "allocs")},
	}
}
