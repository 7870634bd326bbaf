package progress

import "time"

// Defaults of [Limits] and [Policy].
const (
	DefaultTimeout         = 5 * time.Second // Limits.Timeout
	DefaultMaxUpdates      = 1000            // Limits.MaxUpdates
	DefaultMaxMessageBytes = 4096            // Limits.MaxMessageBytes
	DefaultMaxTotal        = 10 * time.Minute
)

// Limits bound what one request may report. In every field zero is the default;
// negative values are refused, since nothing here may be without a bound.
type Limits struct {
	// Timeout is how long a worker waits for its report to be answered. Whoever
	// waits keeps to it; this package only carries it. Zero is DefaultTimeout.
	Timeout time.Duration
	// MaxUpdates is how many reports are accepted. Zero is DefaultMaxUpdates.
	MaxUpdates int
	// MaxMessageBytes is how long a message may be, in bytes; the limit itself
	// is allowed. Zero is DefaultMaxMessageBytes.
	MaxMessageBytes int
	// AllowNegative lets the first value be below zero.
	AllowNegative bool
}

// WithDefaults returns l with its zero fields filled in. Its error is an
// *OptionError.
func (l Limits) WithDefaults() (Limits, error) {
	switch {
	case l.Timeout < 0:
		return l, &OptionError{Field: "Timeout", Value: int64(l.Timeout)}
	case l.MaxUpdates < 0:
		return l, &OptionError{Field: "MaxUpdates", Value: int64(l.MaxUpdates)}
	case l.MaxMessageBytes < 0:
		return l, &OptionError{Field: "MaxMessageBytes", Value: int64(l.MaxMessageBytes)}
	}
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.MaxUpdates == 0 {
		l.MaxUpdates = DefaultMaxUpdates
	}
	if l.MaxMessageBytes == 0 {
		l.MaxMessageBytes = DefaultMaxMessageBytes
	}
	return l, nil
}
