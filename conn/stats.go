package conn

import (
	"sync/atomic"

	"github.com/correlator-go/correlator/engine"
)

// Stats are counters of one connection since it was made, and a few gauges.
// They are read one by one: while traffic flows they are not of one instant.
type Stats struct {
	// Calls are the counters of the table of pending calls: how each ended,
	// and late, duplicate and unknown answers apart.
	Calls engine.Stats

	BytesIn, FramesIn   uint64 // counted when the reader has taken all it had
	BytesOut, FramesOut uint64
	Writes              uint64 // write calls
	Skipped             uint64 // requests that were queued and not written, since their call had ended
	QueuedBytes         int64  // gauge: room of the write buffer in use; 0 when the connection has ended
	QueueWaiters        int    // gauge: callers that wait for room

	Requests, Notifications   uint64 // from the peer, taken
	InFlight                  int    // gauge: requests of the peer that hold a place
	Overloaded                uint64 // requests answered -32603 and notifications dropped, for want of room
	Unanswered                uint64 // requests answered -32603 because their handler did not answer
	DuplicateRequests         uint64 // dropped, since their id was in flight
	NullIDs                   uint64 // MCP requests with a null id, refused
	CancelsIn, CancelsUnknown uint64 // cancels from the peer; those that named nothing in flight
	CancelsOut                uint64 // cancels sent
	AnswersDropped            uint64 // answers that the reader made for a peer that does not read

	Unreadable, TooLarge         uint64 // frames that were no message
	BatchesRefused, BatchesSplit uint64
	NoID                         uint64 // answers without an id

	ProgressDelivered uint64 // handed to a call's callback
	ProgressCoalesced uint64 // overwritten before a slow callback took it
	// For a call that has ended, as far as the last 512 such calls are remembered;
	// under a token never given, or forgotten.
	ProgressLate, ProgressUnknown uint64
	NotesDelivered, NotesDropped  uint64 // of subscriptions
	Panics                        uint64 // in handlers and callbacks, beside Calls.Panics
}

// counts are the counters that many goroutines add to. None is on the path of
// a call: the reader adds once per burst, the writer has its own.
type counts struct {
	framesIn, bytesIn                                  atomic.Uint64
	requests, notifications, overloaded, duplicates    atomic.Uint64
	unanswered                                         atomic.Uint64
	nullIDs, cancelsIn, cancelsUnknown, answersDropped atomic.Uint64
	unreadable, tooLarge, batchesRefused, batchesSplit atomic.Uint64
	noID, progressDelivered, progressCoalesced         atomic.Uint64
	progressLate, progressUnknown                      atomic.Uint64
	notesDelivered, notesDropped, panics               atomic.Uint64
}

// Stats reads the counters.
func (c *Conn) Stats() Stats {
	n, w := &c.counts, &c.writer.counts
	queued := c.room.taken.Load()
	select {
	case <-c.done:
		queued = 0 // what was left then is not written any more
	default:
	}
	return Stats{
		Calls:   c.engine.Stats(),
		BytesIn: n.bytesIn.Load(), FramesIn: n.framesIn.Load(),
		BytesOut: w.bytes.Load(), FramesOut: w.frames.Load(), Writes: w.writes.Load(), Skipped: w.skipped.Load(),
		QueuedBytes: queued, QueueWaiters: int(c.room.queue.Load()),
		Requests: n.requests.Load(), Notifications: n.notifications.Load(), InFlight: c.serving.count(),
		Overloaded: n.overloaded.Load(), Unanswered: n.unanswered.Load(), DuplicateRequests: n.duplicates.Load(), NullIDs: n.nullIDs.Load(),
		CancelsIn: n.cancelsIn.Load(), CancelsUnknown: n.cancelsUnknown.Load(), CancelsOut: c.cancels.written.Load(),
		AnswersDropped: n.answersDropped.Load(),
		Unreadable:     n.unreadable.Load(), TooLarge: n.tooLarge.Load(),
		BatchesRefused: n.batchesRefused.Load(), BatchesSplit: n.batchesSplit.Load(), NoID: n.noID.Load(),
		ProgressDelivered: n.progressDelivered.Load(), ProgressCoalesced: n.progressCoalesced.Load(),
		ProgressLate: n.progressLate.Load(), ProgressUnknown: n.progressUnknown.Load(),
		NotesDelivered: n.notesDelivered.Load(), NotesDropped: n.notesDropped.Load(), Panics: n.panics.Load(),
	}
}
