package drive

import (
	"context"
	"errors"
	"fmt"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Link is what the calls of a run are made over: a *conn.Conn, or what behaves and
// counts like one. What its methods promise is said there.
type Link interface {
	Call(ctx context.Context, method string, params []byte, o conn.CallOptions) ([]byte, error)
	Start(ctx context.Context, method string, params []byte, o conn.CallOptions, notify func(conn.Outcome)) (codec.ID, error)
	Submit(ctx context.Context, requests []conn.Request) (accepted int, err error)
	// Stats has the counters that Audit and Cost read; the rest may be 0.
	Stats() conn.Stats
	// Err is why the link ended, nil while it has not.
	Err() error
	Close() error
}

// links are the connections of a run. Slots and callers belong to them in turn:
// number i to connection i modulo their number.
type links []Link

func linked[L Link](connections []L) links {
	all := make(links, len(connections))
	for i, c := range connections {
		all[i] = c
	}
	return all
}

// LinksMax bounds the connections of a run.
const LinksMax = 4096

// counted are the counters of a connection that the audit and the reports read.
func counted(s *conn.Stats) []*uint64 {
	c := &s.Calls
	return []*uint64{
		&c.Registered, &c.Resolved, &c.Rejected, &c.Cancelled, &c.Expired, &c.Failed, &c.Late, &c.Duplicate, &c.Unknown,
		&s.BytesIn, &s.BytesOut, &s.Writes, &s.FramesIn, &s.FramesOut, &s.Skipped, &s.CancelsOut, &s.Unreadable, &s.TooLarge,
		&s.ProgressDelivered, &s.ProgressCoalesced, &s.ProgressLate, &s.ProgressUnknown,
	}
}

// stats sums the counters, and the pending calls.
func (l links) stats() (sum conn.Stats) {
	to := counted(&sum)
	for _, c := range l {
		s := c.Stats()
		for i, from := range counted(&s) {
			*to[i] += *from
		}
		sum.Calls.Pending += s.Calls.Pending
	}
	return sum
}

// statsSince takes off before where the audit and the reports read.
func statsSince(now, before conn.Stats) conn.Stats {
	to := counted(&now)
	for i, from := range counted(&before) {
		*to[i] -= *from
	}
	return now
}

// err is why the first connection that ended did, nil if none has.
func (l links) err() error {
	for i, c := range l {
		if err := c.Err(); err != nil {
			return l.named(i, err)
		}
	}
	return nil
}

// named says which connection an error is of, where there are several.
func (l links) named(i int, err error) error {
	if len(l) == 1 || err == nil {
		return err
	}
	return fmt.Errorf("connection %d of %d: %w", i+1, len(l), err)
}

// close ends all of them. What they say is in their Err.
func (l links) close() {
	for _, c := range l {
		_ = c.Close()
	}
}

// share is how many of n things numbered 0 to n-1 belong to connection i.
func (l links) share(n, i int) int { return (n - i + len(l) - 1) / len(l) }

var errLinks = errors.New("drive: a run needs at least one connection, and a call in flight for each")
