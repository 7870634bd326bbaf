package conn

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func nowhere(context.Context) (*Conn, error) { return nil, errors.New("nowhere") }

// A caller that saw no connection and comes to wait right after one came up
// must not wait for the next.
func TestEnlistAfterPublish(t *testing.T) {
	a, b := net.Pipe()
	c, err := New(a, Options{})
	require.NoError(t, err)
	r, err := NewRedialer(RedialOptions{Dial: nowhere})
	require.NoError(t, err)
	require.Nil(t, r.Conn())
	require.True(t, r.publish(c))
	got, l, err := r.enlist()
	require.NoError(t, err)
	require.Same(t, c, got)
	require.Nil(t, l)
	require.Zero(t, r.waiting)

	require.NoError(t, r.Close())
	<-r.Done()
	<-c.Done()
	require.NoError(t, b.Close())
	_, _, err = r.enlist()
	require.ErrorIs(t, err, ErrClosed)
	require.False(t, r.publish(c))
}
