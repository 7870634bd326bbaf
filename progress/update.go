package progress

import (
	"fmt"
	"unicode/utf8"

	"github.com/correlator-go/correlator/codec"
)

// Method is the method of a progress notification.
const Method = "notifications/progress"

// Update is what a worker reports.
type Update struct {
	// Progress is the value; each must be above the last. It is required.
	Progress Number
	// Total is what Progress is meant to reach; the zero Number is none. How the
	// two compare is not looked at.
	Total Number
	// Message is for a person to read, in UTF-8. Empty is none.
	Message string
}

// check is the form of an update, which does not depend on a sink.
func (u *Update) check() error {
	switch {
	case u.Progress.IsZero():
		return fmt.Errorf("%w: the value is missing", ErrInvalidProgress)
	case !u.Progress.Valid():
		return fmt.Errorf("%w: the value is %v", ErrInvalidProgress, u.Progress)
	case !u.Total.IsZero() && !u.Total.Valid():
		return fmt.Errorf("%w: the total is %v", ErrInvalidProgress, u.Total)
	case !utf8.ValidString(u.Message):
		return fmt.Errorf("%w: the message is not UTF-8", ErrInvalidProgress)
	}
	return nil
}

func (u *Update) checkLength(limit int) error {
	if len(u.Message) > limit {
		return fmt.Errorf("%w: the message has %d bytes, the limit is %d", ErrInvalidProgress, len(u.Message), limit)
	}
	return nil
}

// AppendNotification appends the notification of u for the request whose
// progress token is token: a JSON object without id and without _meta. It is the
// Shape of MCP and never fails.
func AppendNotification(dst []byte, token codec.ID, u Update) ([]byte, error) {
	dst = append(dst, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	dst = token.Append(dst)
	dst = append(dst, `,"progress":`...)
	dst = u.Progress.Append(dst)
	if !u.Total.IsZero() {
		dst = append(dst, `,"total":`...)
		dst = u.Total.Append(dst)
	}
	if u.Message != "" {
		dst = append(dst, `,"message":`...)
		dst = codec.AppendString(dst, u.Message)
	}
	return append(dst, `}}`...), nil
}
