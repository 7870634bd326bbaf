package contest

import (
	"fmt"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/table"
	"github.com/correlator-go/correlator/bench/peers/wire"
)

// benchTime is a turn without a connection.
const benchTime = 60 * time.Millisecond

// ourOr is the class of those who stand beside ours without carrying anything.
func ourOr(ours bool) peer.Class {
	if ours {
		return peer.Ours
	}
	return peer.Other
}

// bench measures one contender of a codec or table row in a process of its own:
// what one leaves on the heap must not tax the next.
func (c *Contest) bench(role, name, shape string) (load.Figures, error) {
	v, err := c.session.Child(role, name, shape)
	return load.Figures(v), err
}

// CodecRole measures the library that is its first argument on the shape that is
// its second.
func CodecRole(args []string) (claim.Values, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	ns, allocs, err := wire.Measure(args[0], args[1], benchTime)
	return claim.Values{report.Time: ns, load.Allocs: allocs}, err
}

// TableRole measures the table that is its first argument at the size whose name
// is its second.
func TableRole(args []string) (claim.Values, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	for _, s := range table.Sizes() {
		if s.String() == args[1] {
			f, err := table.Measure(args[0], s, 3*benchTime)
			return claim.Values{report.Time: f.Ns, load.Allocs: f.Allocs, load.Bytes: f.Bytes}, err
		}
	}
	return nil, fmt.Errorf("no size %q", args[1])
}
