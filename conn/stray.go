package conn

import "strconv"

// StrayReason says why something that came in could not be used.
type StrayReason uint8

// The reasons.
const (
	StrayUnreadable   StrayReason = iota + 1 // no JSON, or no message
	StrayTooLarge                            // above MaxFrame
	StrayBatch                               // an array, while batches are refused
	StrayUnmatched                           // answers no pending call: late, duplicate or unknown
	StrayNoID                                // an answer without an id, or with a null one
	StrayDuplicate                           // a request whose id is in flight from this peer
	StrayNullID                              // a request with a null id
	StrayProgress                            // progress under a token that was never given
	StrayNotification                        // a notification that found the queue full
)

// String names the reason.
func (r StrayReason) String() string {
	switch r {
	case StrayUnreadable:
		return "unreadable"
	case StrayTooLarge:
		return "too large"
	case StrayBatch:
		return "batch"
	case StrayUnmatched:
		return "unmatched answer"
	case StrayNoID:
		return "answer without id"
	case StrayDuplicate:
		return "duplicate request id"
	case StrayNullID:
		return "null request id"
	case StrayProgress:
		return "unknown progress token"
	case StrayNotification:
		return "notification overflow"
	}
	return "StrayReason(" + strconv.Itoa(int(r)) + ")"
}

// StrayBytes is how much of a frame a Stray carries.
const StrayBytes = 1 << 10

// Stray is something that came in and could not be used. None of them ends the
// connection.
type Stray struct {
	// Reason says why it could not be used.
	Reason StrayReason
	// Frame is the beginning of the frame, at most StrayBytes, borrowed until
	// OnStray returns.
	Frame []byte
	// Size is the length of the whole frame, as far as it is known.
	Size int
	// Err is what the codec said, if it was asked.
	Err error
}
