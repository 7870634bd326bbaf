package codec

// ScanOptions are the rules of [Scan]. The zero value is strict MCP.
type ScanOptions struct {
	// Profile chooses the dialect; zero is MCP.
	Profile Profile
	// MaxDepth is how many objects and arrays may lie in each other, the
	// message itself counted. 0 means DefaultMaxDepth, negative no bound: then
	// a frame of n bytes can make the scan allocate n/8 bytes.
	MaxDepth int
	// RefuseLoneSurrogates refuses strings that escape half of a surrogate pair
	// ("\ud800"), which RFC 8259 allows but no UTF-8 text can carry.
	RefuseLoneSurrogates bool
	// TrustBody skips the validation of what params, result and error hold, for
	// peers that are our own children. The envelope is checked all the same.
	TrustBody bool
}

// DefaultMaxDepth is the depth that ScanOptions.MaxDepth = 0 stands for.
const DefaultMaxDepth = 512

func Scan(frame []byte, e *Envelope, o ScanOptions) error { return nil }
