package codec

// Framer finds the frames of a byte stream and marks those of outgoing
// messages. [LineFramer], [HeaderFramer] and [LengthFramer] are the ones that
// come with this package; a value of another type plugs in the same way.
//
// A Framer keeps no state between calls, so that one value serves any number of
// connections at once; its methods must be safe for concurrent use.
type Framer interface {
	// Cut looks for the first frame in data, the bytes that were received and
	// not consumed. The first scanned bytes of data were there in the call
	// before, which asked for more; a hint that saves looking twice. atEOF says
	// that no byte follows data. A frame longer than maxFrame is refused.
	//
	// An error that is a *FrameError with Fatal false says that the stream goes
	// on: after Cut.Advance bytes, or, when Advance is 0, from the next place that
	// [Resyncer] finds. Every other error ends the stream. At the end of the
	// stream a frame that is cut short is io.ErrUnexpectedEOF.
	Cut(data []byte, scanned int, atEOF bool, maxFrame int) (Cut, error)

	// Open appends to dst what must stand before a message, or room for it.
	Open(dst []byte) []byte

	// Seal makes dst[start:] one frame, in place, where start was len(dst)
	// before Open and the message was appended since. It returns the extended
	// dst. On an error dst is returned cut back to start.
	Seal(dst []byte, start int) ([]byte, error)
}

// Resyncer is what a [Framer] implements beside its own methods when the stream
// can go on after a frame too large to be read to its end.
type Resyncer interface {
	// Resync returns how many bytes of data belong to the frame that is being
	// skipped, its delimiter included, or -1 when all of them do and it goes on.
	Resync(data []byte) int
}

// RequestFramer is what a [Framer] implements beside its own methods when it writes a
// request in one go for less than Open, the function [AppendRequest] and Seal take. A
// connection then asks it for every request; for all else Open and Seal stay. A type
// that embeds a framer and has an Open or Seal of its own needs an AppendRequest of its
// own, too: the one that it inherits knows nothing of them.
type RequestFramer interface {
	// AppendRequest appends a request to dst as one frame, byte for byte as the three
	// would have it. params is its JSON text, nil for none; method and params are read
	// only, and not kept. On an error dst is returned as it was.
	AppendRequest(dst []byte, id ID, method string, params []byte) ([]byte, error)
}

// Cut is what [Framer.Cut] found in data.
//
//	Advance > 0, Start < End    the frame is data[Start:End]
//	Advance > 0, Start == End   nothing there (a blank line): drop Advance bytes
//	Advance == 0                more bytes are needed
type Cut struct {
	// Start and End are the frame's place in data.
	Start, End int
	// Advance is how many bytes of data are consumed, the frame's delimiter
	// included.
	Advance int
	// Need is, when more bytes are needed, how long data must get before another
	// call makes sense; 0 when that is unknown. It is what the peer announced,
	// never beyond maxFrame and the framing's own bytes.
	Need int
}
