package conn

import "github.com/correlator-go/correlator/codec"

// Progress is one progress notification of a call.
type Progress struct {
	// Params is its JSON text, borrowed until the callback returns.
	Params []byte
}

// ProgressReport is what Progress says, decoded.
type ProgressReport struct {
	// Progress is how far the work is; it rises from one report to the next.
	Progress float64 `json:"progress"`
	// Total is nil when the peer named none.
	Total *float64 `json:"total"`
	// Message is text for people, empty when the peer sent none.
	Message string `json:"message"`
}

// Report decodes p.
func (p Progress) Report() (ProgressReport, error) {
	var r ProgressReport
	err := codec.DecodeValue(p.Params, &r)
	return r, err
}

// Notification is one notification of a subscription.
type Notification struct {
	// Method is the notification's own, for example
	// "notifications/tools/list_changed".
	Method string
	// Params is the JSON text, borrowed until the callback returns.
	Params []byte
}

// SlowPolicy says what happens when a subscriber is slower than the peer.
type SlowPolicy uint8

const (
	// SlowDropOldest drops what has waited longest.
	SlowDropOldest SlowPolicy = iota
	// SlowDropNewest drops what just came.
	SlowDropNewest
	// SlowEnd cancels the call with ErrSlowSubscriber.
	SlowEnd
)
