package status

import (
	"time"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
)

// Snapshot is what the page shows, as one JSON object.
type Snapshot struct {
	// At is when it was made, Draining says that no new calls are taken.
	At       time.Time `json:"at"`
	Draining bool      `json:"draining"`
	// Upstreams are all that are configured, by name.
	Upstreams []Upstream `json:"upstreams"`
	// Slowest are the calls that have been pending longest.
	Slowest []Pending `json:"slowest"`
	// Calls counts those that are over, by outcome, Dropped messages that went nowhere,
	// by reason.
	Calls   map[string]uint64 `json:"calls"`
	Dropped map[string]uint64 `json:"dropped"`
	// Sessions are the clients that are connected, InFlight the calls.
	Sessions int `json:"sessions"`
	InFlight int `json:"inFlight"`
}

// Upstream is one server on the page.
type Upstream struct {
	// Name is that of the file, Opener how the server is reached, without secrets, Isolation
	// who shares a way to it: session, identity or shared.
	Name      string `json:"name"`
	Opener    string `json:"opener"`
	Isolation string `json:"isolation"`
	// State is unused, opening, up or down, of the way that is worst off; Ways says how
	// many there are, Up how many of them are open.
	State string `json:"state"`
	Ways  int    `json:"ways"`
	Up    int    `json:"up"`
	// InFlight are calls that are not over, Queued those of them that are not sent.
	InFlight int `json:"inFlight"`
	Queued   int `json:"queued"`
	// PerSecond is of the last five seconds, P50 and P99, in milliseconds, of the
	// last thirty.
	PerSecond float64 `json:"perSecond"`
	P50       float64 `json:"p50Ms"`
	P99       float64 `json:"p99Ms"`
	// Errors counts calls that failed, by error.type.
	Errors map[string]uint64 `json:"errors"`
	// Late are answers and progress that came too late, Chatter lines of the server
	// that were no messages.
	Late    uint64 `json:"late"`
	Chatter uint64 `json:"chatter"`
	// Restarts are openings after the first, LastErr is why the server was lost, or could not
	// be opened, most recently; "" is never.
	Restarts uint64 `json:"restarts"`
	LastErr  string `json:"lastError,omitempty"`
}

// Pending is one call in flight.
type Pending struct {
	// Client and ID name it, for the button that cancels it; ID is the JSON text.
	Client uint64 `json:"client"`
	ID     string `json:"id"`
	// Identity is who the client proved to be, "" is nobody; Transport how it came.
	Identity  string `json:"identity,omitempty"`
	Transport string `json:"transport"`
	// Upstream is "" before it is known where the call goes, Method and Tool are what it
	// asks; Tool is "" where there is none.
	Upstream string `json:"upstream"`
	Method   string `json:"method"`
	Tool     string `json:"tool,omitempty"`
	// Sent says that it does not wait to be sent any more, Age is how long ago it came in,
	// in nanoseconds.
	Sent bool          `json:"sent"`
	Age  time.Duration `json:"ageNs"`
}

// slowest is how many calls the page shows.
const slowest = 20

// Snapshot looks at everything. It visits every call in flight.
func (b *Board) Snapshot() Snapshot {
	g := b.gateway.Load()
	s := Snapshot{At: b.o.Now(), Calls: map[string]uint64{}, Dropped: map[string]uint64{}, Upstreams: []Upstream{}, Slowest: []Pending{}}
	if g == nil {
		return s
	}
	stats := g.Stats()
	s.Draining, s.Sessions, s.InFlight = g.Draining(), stats.Sessions, stats.InFlight
	for o, n := range outcomes(&stats) {
		s.Calls[string(o)] = n
	}
	for r, n := range stats.Dropped {
		s.Dropped[r.String()] = n
	}
	for _, u := range g.Upstreams() {
		s.Upstreams = append(s.Upstreams, b.upstream(u))
	}
	for _, p := range g.Slowest(slowest) {
		s.Slowest = append(s.Slowest, Pending{
			Client: p.Client, ID: string(p.ID.Append(nil)), Identity: p.Peer.Identity, Transport: p.Peer.Transport,
			Upstream: p.Upstream, Method: p.Method, Tool: p.Tool, Sent: p.Sent, Age: p.Age,
		})
	}
	return s
}

func (b *Board) upstream(u gateway.UpstreamState) Upstream {
	r := b.meters.of(u.Name).read()
	out := Upstream{
		Name: u.Name, Opener: auth.Redact(u.Opener), Isolation: u.Isolation.String(), State: "unused", Ways: u.Ways, Up: u.Up,
		InFlight: u.InFlight, Queued: u.Waiting, PerSecond: r.perSecond, P50: r.p50, P99: r.p99,
		Errors: r.errors, Late: r.late, Chatter: r.noise, LastErr: auth.Redact(r.lastErr),
	}
	if r.opened > 1 && u.Isolation == gateway.Shared {
		out.Restarts = r.opened - 1
	}
	switch {
	case u.Opening > 0 && r.lastErr != "":
		out.State = "down"
	case u.Opening > 0:
		out.State = "opening"
	case u.Up > 0:
		out.State = "up"
	}
	return out
}

func outcomes(s *gateway.Stats) map[gateway.Outcome]uint64 {
	return map[gateway.Outcome]uint64{
		gateway.Answered: s.Answered, gateway.Failed: s.Failed, gateway.Expired: s.Expired,
		gateway.Cancelled: s.Cancelled, gateway.Lost: s.Lost, gateway.Refused: s.Refused,
	}
}
