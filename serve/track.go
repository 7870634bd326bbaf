package serve

import (
	"strconv"
	"strings"

	"github.com/correlator-go/correlator/mcp"
)

// track is one event stream of a session: that of a POSTed request, or the
// session's own, which a GET opens. It outlives the HTTP responses that carry it:
// a client that lost one comes back with the id of the last event it saw.
//
// T1: events are numbered from 1; events[i] has the number first+i, and those up
// to sent were written to somebody.
//
// T2: each event has an entry of its track in the session's order, or is counted
// in held: there was its turn to go while a response had yet to write it.
//
// All fields are protected by the session's lock.
type track struct {
	number   uint64 // its name in event ids
	exchange mcp.ExchangeID
	events   []trackEvent
	first    uint64
	sent     uint64
	unsent   int // bytes
	held     int
	closed   bool        // nothing follows
	released bool        // its response is to be ended, since the handler said so
	reader   *attachment // who carries it now; nil when nobody does
}

type trackEvent struct {
	frame  []byte
	final  bool
	status int
	ack    func(error)
}

// attachment is the HTTP response that carries a track.
type attachment struct {
	wake chan struct{}
	lost chan struct{} // closed when another response took the track over
}

// eventOverhead is what an event is counted with beside its bytes.
const eventOverhead = 128

func (e *trackEvent) size() int { return len(e.frame) + eventOverhead }

func (t *track) poke() {
	if t.reader == nil {
		return
	}
	select {
	case t.reader.wake <- struct{}{}:
	default:
	}
}

// attach gives the track to a new response.
func (t *track) attach() *attachment {
	if t.reader != nil {
		close(t.reader.lost)
	}
	t.reader = &attachment{wake: make(chan struct{}, 1), lost: make(chan struct{})}
	return t.reader
}

// detach takes it from a response, if that still has it. What waits to be written
// is kept for who comes back, and that has to do for those who wait.
func (t *track) detach(a *attachment) (acks []func(error)) {
	if t.reader != a {
		return nil
	}
	t.reader = nil
	for i := range t.events {
		if t.events[i].ack != nil {
			acks = append(acks, t.events[i].ack)
			t.events[i].ack = nil
		}
	}
	return acks
}

// eventID is the name of an event: the track's number and the event's.
func (t *track) eventID(event uint64) string {
	return strconv.FormatUint(t.number, 10) + "-" + strconv.FormatUint(event, 10)
}

// parseEventID reads what eventID made.
func parseEventID(id string) (number, event uint64, ok bool) {
	a, b, found := strings.Cut(id, "-")
	number, err1 := strconv.ParseUint(a, 10, 64)
	event, err2 := strconv.ParseUint(b, 10, 64)
	return number, event, found && err1 == nil && err2 == nil
}
