package accept

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// pause is how long Next waits when there is no room for one more socket, which is
// until others have ended.
const pause = 50 * time.Millisecond

// Next waits for the next connection of l. It goes on behind errors that pass. The error
// is the cause of ctx, once that has ended, and else what ended l: whoever wants the end
// of ctx to wake Next closes l then.
func Next(ctx context.Context, l net.Listener) (net.Conn, error) {
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			return c, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !passes(err):
			return nil, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// passes reports whether Accept may succeed later: a deadline of the listener, a peer
// that gave up, a table of files that is full.
func passes(err error) bool {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return true
	}
	return errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
