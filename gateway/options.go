package gateway

import (
	"fmt"
	"time"

	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
)

// Defaults of Options and Upstream.
const (
	// DefaultTimeout is the total time of a call.
	DefaultTimeout = 60 * time.Second
	// DefaultProbeTimeout is how long the question whether a server is modern may go
	// unanswered before it is taken for one of the older era.
	DefaultProbeTimeout = 5 * time.Second
	// DefaultOpenTimeout bounds the start of an upstream, its handshake included.
	DefaultOpenTimeout = 30 * time.Second
	// DefaultBackoffMin and DefaultBackoffMax bound the pause before an upstream that
	// was lost is opened again; it doubles from one failure to the next.
	DefaultBackoffMin = 100 * time.Millisecond
	DefaultBackoffMax = 30 * time.Second
	// DefaultBackoffStable is how long a way must have lasted for its loss to cause
	// the shortest pause only.
	DefaultBackoffStable = 10 * time.Second
	// DefaultDoubtAnswered and DefaultDoubtUnanswered are how long a server of the
	// older era that many share may still speak of a call that has ended.
	DefaultDoubtAnswered   = time.Second
	DefaultDoubtUnanswered = time.Minute
	// DefaultMaxWays is how many ways to one upstream there may be at once.
	DefaultMaxWays = 256
	// DefaultIdleAfter is how long a way that not all share may have nothing to do.
	DefaultIdleAfter = 30 * time.Minute
	// DefaultMaxInFlight is how many calls may be in flight at one upstream.
	DefaultMaxInFlight = 1 << 17
)

// Isolation says which clients share a way to an upstream.
type Isolation uint8

// The ways to share.
const (
	// PerSession gives each client connection or session a way of its own. It is the
	// zero value, since it is right for every server.
	PerSession Isolation = iota
	// PerIdentity gives each identity a way of its own; clients without one share.
	PerIdentity
	// Shared has one way for all. It is for servers that keep nothing for a client.
	Shared
)

// String gives the word of the configuration file.
func (i Isolation) String() string {
	switch i {
	case PerSession:
		return "session"
	case PerIdentity:
		return "identity"
	case Shared:
		return "shared"
	}
	return fmt.Sprintf("Isolation(%d)", uint8(i))
}

// Options of a gateway. Options are copied by New.
type Options struct {
	// Upstreams are the servers, at least one.
	Upstreams []Upstream
	// Limit bounds the calls of all clients at all upstreams. In flight zero is no bound.
	Limit limit.Options
	// Rate is how many calls a second one client may make, Burst how many at once after
	// it made none for a while; zero and negative are no bound, and a second's worth.
	// A client is its identity, or else its address, an IPv6 one by its network of 64
	// bits, however many connections and sessions it has; without either, as on a unix
	// socket, it is its connection. Limit goes by the same.
	Rate  float64
	Burst int
	// Merge makes one server of all Upstreams, whose names are then prefixes: tools and
	// prompts are called name__tool, and must not hold two underscores in a row
	// themselves. Requests that a Router decides about are not concerned.
	Merge bool
	// MergePatience is how long an answer that is made of several upstreams' waits for
	// one of them when another one has given its part; what is late is missing. Zero is
	// DefaultMergePatience, negative waits for all.
	MergePatience time.Duration
	// Overflow says what becomes of clients that do not read fast enough.
	Overflow Overflow
	// Router chooses among them and rewrites names. Nil sends all to the first.
	Router Router
	// Observer sees what happens, on the goroutine where it does: most often that which
	// brings a server's answers to all of its clients. It must not block; what may, a log
	// or an exporter, belongs behind a bounded queue, as status.Board has it.
	Observer func(Event)
	// Tracer gives calls a place in traces; nil passes trace contexts as they are. It needs
	// an Observer, which is told of their ends.
	Tracer Tracer
	// OnPanic gets what an observer, a router or a transport panicked with.
	OnPanic func(v any, stack []byte)
	// Clock measures deadlines and pauses; nil is the system's.
	Clock engine.Clock
	// Random gives numbers in [0, 1) for the jitter of pauses; nil is math/rand/v2.
	Random func() float64
}

// Upstream is one server as the gateway sees it. In durations and counts zero is the
// default and negative is none.
type Upstream struct {
	// Name names it in errors, logs and prefixes. Required, and unlike all others.
	Name string
	// Opener opens ways to it. Required.
	Opener link.Opener
	// URIPrefix stands before the URIs of its resources as clients of a merged server know
	// them, "files+" for example: file:///a is files+file:///a then, in lists, in what is
	// read, linked to and embedded, and in what clients ask for. It has two upstreams with
	// one URI both be reached. A letter, then letters, digits, +, - and points; "" leaves
	// URIs as they are. Without Options.Merge it means nothing.
	URIPrefix string
	// Isolation says which clients share a way.
	Isolation Isolation
	// Plain says that it speaks JSON-RPC but not MCP: then nothing is answered in its
	// place, and there is no handshake.
	Plain bool
	// Timeout is the total time of a call, from when it is sent. IdleTimeout is how
	// long it may hear nothing, its progress included; zero is none, too.
	Timeout, IdleTimeout time.Duration
	// ProbeTimeout bounds the question whether the server is modern, which is asked
	// once of an upstream that turns out not to be; negative does not ask it.
	ProbeTimeout time.Duration
	// OpenTimeout bounds the start.
	OpenTimeout time.Duration
	// MaxWays bounds the ways to it, child processes for example, that there are at
	// once. A call that would need one more is refused with -32004.
	MaxWays int
	// IdleAfter ends a way that had no call for so long, and begins it anew for the
	// next one. What the server kept for its client is lost. Zero is none where all
	// share.
	IdleAfter time.Duration
	// BackoffMin, BackoffMax and BackoffStable are the pauses between starts.
	BackoffMin, BackoffMax, BackoffStable time.Duration
	// DoubtAnswered is for how long after its last answer a client counts as one that
	// the server may mean by what it asks and logs, DoubtUnanswered the same after a
	// call that was cancelled or has expired. While two clients count, nothing of the
	// kind goes to either, where the way is shared and messages name no call.
	DoubtAnswered, DoubtUnanswered time.Duration
	// Methods are the deadlines of methods that have their own.
	Methods map[string]Deadlines
	// Limit bounds its calls, over all ways to it: those in flight, where zero is
	// DefaultMaxInFlight; and those that wait, for a place, for it to be open or for it
	// to read on.
	Limit limit.Options
	// Retries is how often a call is sent again that got no answer because the server
	// went; zero is DefaultRetries. It is done for Idempotent methods only: nil is those
	// of MCP that only read, and none where Plain is set. tools/call cannot be one.
	Retries    int
	Idempotent []string
	// HedgeAfter is when a call of an Idempotent method that has no answer and asked
	// for no progress is sent a second time; the answer that comes first counts. Zero
	// and negative are never.
	HedgeAfter time.Duration
	// Breaker refuses calls when it does not answer.
	Breaker Breaker
	// Relay says that its clients are gateways, such as the nodes of a cluster, which
	// translate between eras for their own clients: they are told what the server
	// speaks, and get its answers as they are. Nil is for all other clients.
	Relay *Relay
}

// Relay is how an upstream serves gateways.
type Relay struct {
	// Dropped hears of each message of the server that went nowhere. It must not block. Nil
	// leaves them to Stats and the Observer.
	Dropped func(Reason)
}

// OptionError says which option New refused.
type OptionError struct {
	// Field names it, Problem says what is wrong.
	Field, Problem string
}

// Error names both.
func (e *OptionError) Error() string { return "gateway: " + e.Field + ": " + e.Problem }

func (u Upstream) withDefaults() Upstream {
	or := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	or(&u.Timeout, DefaultTimeout)
	or(&u.OpenTimeout, DefaultOpenTimeout)
	or(&u.ProbeTimeout, DefaultProbeTimeout)
	or(&u.BackoffMin, DefaultBackoffMin)
	or(&u.BackoffMax, DefaultBackoffMax)
	or(&u.BackoffStable, DefaultBackoffStable)
	or(&u.DoubtAnswered, DefaultDoubtAnswered)
	or(&u.DoubtUnanswered, DefaultDoubtUnanswered)
	if u.Limit.MaxInFlight == 0 {
		u.Limit.MaxInFlight = DefaultMaxInFlight
	}
	switch {
	case u.Retries == 0:
		u.Retries = DefaultRetries
	case u.Retries < 0:
		u.Retries = 0
	}
	if u.MaxWays == 0 {
		u.MaxWays = DefaultMaxWays
	}
	if u.Isolation != Shared {
		or(&u.IdleAfter, DefaultIdleAfter)
	}
	return u
}
