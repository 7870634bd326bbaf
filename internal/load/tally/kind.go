package tally

import "time"

// Kind is what became of a call.
type Kind uint8

// The kinds. Every call that was sent ends as exactly one of them.
const (
	OK        Kind = iota // a result, as asked for
	Rejected              // the peer's error, or a result that says it failed
	TimedOut              // nothing came in time
	Cancelled             // given up by the generator
	Lost                  // the connection went first
	kinds
)

// String gives the word of the accounting line.
func (k Kind) String() string {
	return [...]string{"ok", "error", "timeout", "cancelled", "lost"}[k]
}

// timed reports whether the kind belongs in the latency tables.
func (k Kind) timed() bool { return k <= TimedOut }

// Sample is one settled call. Times are since the beginning of the run.
type Sample struct {
	Planned time.Duration // when it was due
	Sent    time.Duration // when it was handed to the connection
	Done    time.Duration // when it settled
	Kind    Kind
	Warm    bool // sent during the warm-up: counted, not measured
	// Conn and Entry are the connection and the entry of a mix that it belongs
	// to, both 0 where there is one.
	Conn, Entry uint16
}

// Ends counts calls by what became of them.
type Ends struct {
	OK        int64 `json:"ok"`
	Error     int64 `json:"error"`
	Timeout   int64 `json:"timeout"`
	Cancelled int64 `json:"cancelled"`
	Lost      int64 `json:"lost"`
}

// Sum is the number of settled calls.
func (e Ends) Sum() int64 { return e.OK + e.Error + e.Timeout + e.Cancelled + e.Lost }

func endsOf(n *[kinds]int64) Ends {
	return Ends{n[OK], n[Rejected], n[TimedOut], n[Cancelled], n[Lost]}
}

// Add returns the sum of both.
func (e Ends) Add(o Ends) Ends {
	return Ends{e.OK + o.OK, e.Error + o.Error, e.Timeout + o.Timeout, e.Cancelled + o.Cancelled, e.Lost + o.Lost}
}
