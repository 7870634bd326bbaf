package conn

import (
	"slices"
	"sync"

	"github.com/correlator-go/correlator/internal/invariants"
)

// feed carries what comes in for one call before its answer: progress and the
// notifications of a subscription. The reader puts in and never waits; one
// consumer takes out, in order.
//
//	Call    the consumer is the caller, while it waits for the answer
//	Start   a goroutine that lives while there is something to deliver; if it
//	        does when the call settles, it delivers the outcome as well
//
// I6: what came before the answer is delivered before the outcome, and nothing
// after it.
type feed struct {
	conn     *Conn
	progress func(Progress)
	notes    func(Notification)
	slow     SlowPolicy
	reports  int // how much progress may wait
	// limit and limitBytes bound the notifications that wait; one alone always may.
	limit, limitBytes int
	quiet             bool          // CallOptions.NoCancel
	notify            func(Outcome) // of Start, nil in Call
	signal            chan struct{} // of Call, nil in Start: holds one token when there is something

	mu      sync.Mutex // protects the fields below
	queue   []delivery
	noted   int      // notes in queue; the rest is progress
	bytes   int      // of those
	said    int      // bytes of progress in queue
	running bool     // of Start: the goroutine lives
	over    bool     // the call settled: nothing more goes in
	outcome *Outcome // settled while the goroutine ran: its last delivery
	spare   []byte   // a buffer to reuse for progress
}

// delivery is one notification, copied from the frame.
type delivery struct {
	note   bool // of a subscription; else progress
	method string
	params []byte
}

// size is what a delivery counts for: the peer chooses the length of both.
func (d *delivery) size() int { return len(d.method) + len(d.params) }

// offered says what became of a notification.
type offered uint8

const (
	feedTook      offered = iota
	feedCoalesced         // it replaced one that waited
	feedDropped           // a notification was dropped for it, or it was
	feedTooSlow           // the subscription has to end
	feedOver              // the call had settled
)

// offerProgress is called by the reader.
func (f *feed) offerProgress(params []byte) offered {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return feedOver
	}
	waits := len(f.queue) - f.noted
	if waits >= f.reports || waits > 0 && f.said+len(params) > f.limitBytes {
		for i := len(f.queue) - 1; i >= 0; i-- {
			if d := &f.queue[i]; !d.note {
				f.said += len(params) - len(d.params)
				d.params = append(d.params[:0], params...)
				return feedCoalesced
			}
		}
	}
	f.said += len(params)
	f.putLocked(delivery{params: append(f.spare[:0], params...)})
	f.spare = nil
	return feedTook
}

// offerNote is called by the reader.
func (f *feed) offerNote(method, params []byte) offered {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return feedOver
	}
	result := feedTook
	size := len(method) + len(params)
	for f.noted > 0 && (f.noted >= f.limit || f.bytes+size > f.limitBytes) {
		switch f.slow {
		case SlowDropNewest:
			return feedDropped
		case SlowEnd:
			return feedTooSlow
		}
		f.dropOldestLocked()
		result = feedDropped
	}
	f.noted++
	f.bytes += size
	f.putLocked(delivery{note: true, method: string(method), params: append([]byte(nil), params...)})
	return result
}

// dropOldestLocked drops the note that has waited longest, and no progress, which
// has a bound of its own.
func (f *feed) dropOldestLocked() {
	oldest := slices.IndexFunc(f.queue, func(d delivery) bool { return d.note })
	f.noted--
	f.bytes -= f.queue[oldest].size()
	f.queue = slices.Delete(f.queue, oldest, oldest+1)
}

// takeLocked removes what is first in the queue.
func (f *feed) takeLocked() delivery {
	d := f.queue[0]
	f.queue[0] = delivery{}
	f.queue = f.queue[1:]
	if d.note {
		f.noted--
		f.bytes -= d.size()
	} else {
		f.said -= d.size()
	}
	return d
}

func (f *feed) putLocked(d delivery) {
	f.queue = append(f.queue, d)
	switch {
	case f.signal != nil:
		select {
		case f.signal <- struct{}{}:
		default:
		}
	case !f.running:
		f.running = true
		go f.run()
	}
}

// take removes what is next. When there is nothing more and the call settled,
// it gives the outcome once; when there is nothing at all, running ends.
func (f *feed) take() (d delivery, outcome *Outcome, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) > 0 {
		return f.takeLocked(), nil, true
	}
	f.queue = nil
	f.running = false
	outcome, f.outcome = f.outcome, nil
	return d, outcome, outcome != nil
}

// run is the goroutine of Start.
func (f *feed) run() {
	left := true
	defer func() {
		if left { // a callback ended this goroutine, not what waits for it
			go f.run()
		}
	}()
	for {
		d, outcome, ok := f.take()
		if !ok || outcome != nil {
			left = false
			if ok {
				f.conn.guard(func() { f.notify(*outcome) })
			}
			return
		}
		f.deliver(d)
	}
}

// deliverAll is the consumer of Call.
func (f *feed) deliverAll() {
	for {
		d, _, ok := f.take()
		if !ok {
			return
		}
		f.deliver(d)
	}
}

func (f *feed) deliver(d delivery) {
	if d.note {
		f.conn.counts.notesDelivered.Add(1)
		f.conn.guard(func() { f.notes(Notification{Method: d.method, Params: d.params}) })
		return
	}
	f.conn.counts.progressDelivered.Add(1)
	f.conn.guard(func() { f.progress(Progress{Params: d.params}) })
	f.mu.Lock()
	f.spare = d.params
	f.mu.Unlock()
}

// close lets nothing more in: the answer is there, or the caller has left.
func (f *feed) close() {
	f.mu.Lock()
	f.over = true
	f.mu.Unlock()
}

// settle is what the table calls for a call of Start. The outcome goes straight
// to the caller, unless something is still on its way there.
func (f *feed) settle(o Outcome) {
	f.mu.Lock()
	if invariants.Enabled {
		invariants.Check(f.outcome == nil, "I6: call %v settled twice", o.ID)
	}
	f.over = true
	if f.running {
		o.Value = append([]byte(nil), o.Value...)
		f.outcome = &o
	}
	running := f.running
	f.mu.Unlock()
	if id, ok := o.ID.Int(); ok {
		f.conn.feeds.remove(id)
	}
	if !running && f.notify != nil {
		f.notify(o)
	}
}
