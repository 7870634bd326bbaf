package echo

import "sync/atomic"

// Counters is what servers did, summed over every connection that shares it.
// The zero value is ready. It is safe for concurrent use.
//
// A server adds to it once per burst of messages, before the answers of that
// burst are written: a client that has an answer finds it counted.
type Counters struct {
	connections, requests, notifications, cancels, unreadable        atomic.Int64
	answers, refused, blackholed, late, duplicates, progress, unsent atomic.Int64
	held, bytesIn, bytesOut, writes                                  atomic.Int64
}

// Counts is a snapshot of [Counters].
//
// Once Held is 0: Answers = Requests - Blackholed + Duplicates - Unsent.
type Counts struct {
	Connections   int64 `json:"connections"`   // connections served so far; also numbers them
	Requests      int64 `json:"requests"`      // requests read
	Notifications int64 `json:"notifications"` // notifications read, cancels among them
	Cancels       int64 `json:"cancels"`       // cancel notifications read
	Unreadable    int64 `json:"unreadable"`    // frames that are no message, batches among them
	Answers       int64 `json:"answers"`       // answers given to the writer, duplicates among them
	Refused       int64 `json:"refused"`       // answers that were errors
	Blackholed    int64 `json:"blackholed"`    // requests that will never be answered
	Late          int64 `json:"late"`          // requests held back by Shape.Late
	Duplicates    int64 `json:"duplicates"`    // second answers
	Progress      int64 `json:"progress"`      // progress notifications
	Unsent        int64 `json:"unsent"`        // answers still held when the connection ended
	Held          int64 `json:"held"`          // answers waiting for their time now
	BytesIn       int64 `json:"bytesIn"`
	BytesOut      int64 `json:"bytesOut"`
	Writes        int64 `json:"writes"` // write calls
}

// Snapshot reads every counter. While servers run, the numbers are not of one
// instant.
func (c *Counters) Snapshot() Counts {
	return Counts{
		Connections: c.connections.Load(), Requests: c.requests.Load(), Notifications: c.notifications.Load(),
		Cancels: c.cancels.Load(), Unreadable: c.unreadable.Load(), Answers: c.answers.Load(), Refused: c.refused.Load(),
		Blackholed: c.blackholed.Load(), Late: c.late.Load(), Duplicates: c.duplicates.Load(), Progress: c.progress.Load(),
		Unsent: c.unsent.Load(), Held: c.held.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(), Writes: c.writes.Load(),
	}
}

// Add returns the sums of both.
func (c Counts) Add(o Counts) Counts {
	sum := c.Sub(Counts{}.Sub(o))
	sum.Held += o.Held
	return sum
}

// Sub returns what happened between the snapshot before and c. Held is c's own.
func (c Counts) Sub(before Counts) Counts {
	return Counts{
		Connections: c.Connections - before.Connections, Requests: c.Requests - before.Requests,
		Notifications: c.Notifications - before.Notifications, Cancels: c.Cancels - before.Cancels,
		Unreadable: c.Unreadable - before.Unreadable, Answers: c.Answers - before.Answers, Refused: c.Refused - before.Refused,
		Blackholed: c.Blackholed - before.Blackholed, Late: c.Late - before.Late, Duplicates: c.Duplicates - before.Duplicates,
		Progress: c.Progress - before.Progress, Unsent: c.Unsent - before.Unsent, Held: c.Held,
		BytesIn: c.BytesIn - before.BytesIn, BytesOut: c.BytesOut - before.BytesOut, Writes: c.Writes - before.Writes,
	}
}

// add moves what one connection counted since its last call into c and clears
// it. n.Held and n.Connections are not used: they are not sums of bursts.
func (c *Counters) add(n *Counts) {
	for _, d := range [...]struct {
		to *atomic.Int64
		by int64
	}{
		{&c.requests, n.Requests}, {&c.notifications, n.Notifications}, {&c.cancels, n.Cancels}, {&c.unreadable, n.Unreadable},
		{&c.answers, n.Answers}, {&c.refused, n.Refused}, {&c.blackholed, n.Blackholed}, {&c.late, n.Late},
		{&c.duplicates, n.Duplicates}, {&c.progress, n.Progress}, {&c.unsent, n.Unsent},
		{&c.bytesIn, n.BytesIn}, {&c.bytesOut, n.BytesOut}, {&c.writes, n.Writes},
	} {
		if d.by != 0 {
			d.to.Add(d.by)
		}
	}
	*n = Counts{}
}
