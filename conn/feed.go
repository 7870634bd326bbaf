package conn

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

// subscriptionBytes bounds what waits for one slow subscriber, beside the count.
const subscriptionBytes = 1 << 20

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
	limit    int
	slow     SlowPolicy
	quiet    bool          // CallOptions.NoCancel
	notify   func(Outcome) // of Start, nil in Call
	signal   chan struct{} // of Call, nil in Start: holds one token when there is something

	mu      sync.Mutex // protects the fields below
	queue   []delivery
	noted   int      // notes in queue
	bytes   int      // of those
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
	for i := range f.queue {
		if d := &f.queue[i]; !d.note {
			d.params = append(d.params[:0], params...)
			return feedCoalesced
		}
	}
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
	for f.noted > 0 && (f.noted >= f.limit || f.bytes+size > subscriptionBytes) {
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

// dropOldestLocked drops the note that has waited longest. Progress is neither
// counted nor dropped: no more than one waits.
func (f *feed) dropOldestLocked() {
	if !f.queue[0].note {
		f.queue[0], f.queue[1] = f.queue[1], f.queue[0]
	}
	f.takeLocked()
}

// takeLocked removes what is first in the queue.
func (f *feed) takeLocked() delivery {
	d := f.queue[0]
	f.queue[0] = delivery{}
	f.queue = f.queue[1:]
	if d.note {
		f.noted--
		f.bytes -= d.size()
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

// feeds finds the feed of a call. Only calls that have one pay for it.
type feeds struct {
	count atomic.Int32 // of live, so that who finds 0 need not lock

	mu   sync.Mutex // protects the fields below; taken before a feed's own
	live map[int64]*feed
	// retired remembers calls that had a feed and ended: a table in which an id
	// has one place, where the next id to fall on it takes over.
	retired []retiredFeed
}

type retiredFeed struct {
	id    int64
	quiet bool
}

// retiredIDs bounds the memory for telling late progress from unknown.
const retiredIDs = 512

// add makes f known, unless its call has settled already.
func (s *feeds) add(id codec.ID, f *feed) {
	key, _ := id.Int()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = make(map[int64]*feed)
		s.retired = make([]retiredFeed, retiredIDs)
	}
	f.mu.Lock()
	over := f.over
	f.mu.Unlock()
	if over {
		s.retireLocked(key, f)
		return
	}
	s.live[key] = f
	s.count.Store(int32(len(s.live)))
}

// answered closes the feed of a call whose answer is at hand, before the answer
// settles it: what the peer sends after that is late.
func (s *feeds) answered(id codec.ID) {
	if s.count.Load() == 0 {
		return
	}
	key, ok := id.Int()
	if !ok { // a peer that echoes 7 as "7"
		n, err := strconv.ParseInt(id.Text(), 10, 64)
		if err != nil {
			return
		}
		key = n
	}
	if f, _ := s.find(key); f != nil {
		f.close()
	}
}

func (s *feeds) remove(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.live[id]; ok {
		delete(s.live, id)
		s.count.Store(int32(len(s.live)))
		s.retireLocked(id, f)
	}
}

func (s *feeds) retireLocked(id int64, f *feed) {
	s.retired[retiredPlace(id)] = retiredFeed{id, f.quiet}
}

func retiredPlace(id int64) uint64 { return uint64(id) * 0x9e3779b97f4a7c15 >> 55 }

// quiet reports whether the peer must not hear that the call ended. Its caller
// may have seen the end already and removed the feed.
func (s *feeds) quiet(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return false
	}
	if f := s.live[id]; f != nil {
		return f.quiet
	}
	old := s.retired[retiredPlace(id)]
	return old.id == id && old.quiet
}

// find gives the feed of a pending call, and whether the call is known to have
// ended.
func (s *feeds) find(id int64) (f *feed, late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return nil, false
	}
	return s.live[id], s.retired[retiredPlace(id)].id == id
}
