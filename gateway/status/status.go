package status

import "time"

// Snapshot is what the page shows, as one JSON object.
type Snapshot struct {
	At        time.Time  `json:"at"`
	Upstreams []Upstream `json:"upstreams"`
	// Slowest are the calls that have been pending longest.
	Slowest []Pending `json:"slowest"`
	// Dropped counts messages that went nowhere, by reason.
	Dropped map[string]uint64 `json:"dropped"`
	// Sessions are the clients that are connected.
	Sessions int `json:"sessions"`
}

// Upstream is one server on the page.
type Upstream struct {
	Name string `json:"name"`
	// State is unused, opening, up, pausing or over, of the way that is worst off; Ways
	// says how many there are.
	State    string            `json:"state"`
	Ways     int               `json:"ways"`
	InFlight int               `json:"inFlight"`
	Queued   int               `json:"queued"`
	PerSec   float64           `json:"perSecond"`
	P50      float64           `json:"p50Ms"`
	P99      float64           `json:"p99Ms"`
	Errors   map[string]uint64 `json:"errors"`
	Late     uint64            `json:"late"`
	Restarts uint64            `json:"restarts"`
	LastErr  string            `json:"lastError,omitempty"`
}

// Pending is one call in flight.
type Pending struct {
	// Call names it for the button that cancels it.
	Call     string        `json:"call"`
	Client   uint64        `json:"client"`
	Upstream string        `json:"upstream"`
	Method   string        `json:"method"`
	Tool     string        `json:"tool,omitempty"`
	Age      time.Duration `json:"ageNs"`
}
