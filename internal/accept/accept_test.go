package accept_test

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/accept"
)

// scripted is a listener whose Accepts go as written; then it waits to be closed.
type scripted struct {
	net.Listener
	errs   []error // nil is a connection
	closed chan struct{}
}

func (s *scripted) Accept() (net.Conn, error) {
	if len(s.errs) == 0 {
		<-s.closed
		return nil, net.ErrClosed
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	if err != nil {
		return nil, err
	}
	near, _ := net.Pipe()
	return near, nil
}

func refusal(err error) error {
	return &net.OpError{Op: "accept", Err: os.NewSyscallError("accept", err)}
}

func TestNextOutlastsWhatPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		l := &scripted{errs: []error{
			refusal(syscall.EMFILE), refusal(syscall.ENFILE), refusal(syscall.ECONNABORTED), refusal(os.ErrDeadlineExceeded), nil, broken,
		}}
		c, err := accept.Next(t.Context(), l)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		_, err = accept.Next(t.Context(), l)
		require.Equal(t, broken, err)
	})
}

func TestNextEndsWithItsContext(t *testing.T) {
	over := errors.New("over")
	for name, errs := range map[string][]error{"waiting": nil, "pausing": {refusal(syscall.EMFILE)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				l := &scripted{errs: errs, closed: make(chan struct{})}
				context.AfterFunc(ctx, func() { close(l.closed) })
				ended := make(chan error)
				go func() {
					_, err := accept.Next(ctx, l)
					ended <- err
				}()
				synctest.Wait()
				cancel(over)
				require.Equal(t, over, <-ended)
			})
		})
	}
}
