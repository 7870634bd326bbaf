package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSmoke(t *testing.T) {
	clock := NewManualClock()
	e, err := New(Options[string]{Clock: clock})
	require.NoError(t, err)
	c, err := e.Begin(nil, CallOptions[string]{Method: "x"})
	require.NoError(t, err)
	require.True(t, e.Resolve(c.ID(), "hi"))
	v, err := c.Wait(context.Background())
	require.NoError(t, err)
	require.Equal(t, "hi", v)
	_, err = c.Wait(nil)
	require.ErrorIs(t, err, ErrConsumed)
	c, _ = e.Begin(nil, CallOptions[string]{Method: "y"})
	clock.Advance(60 * time.Second)
	require.Equal(t, 1, e.Len())
	clock.Advance(2 * time.Millisecond)
	_, err = c.Wait(nil)
	require.ErrorIs(t, err, ErrTimeout)
	t.Log(err)
	require.True(t, errors.Is(err, context.DeadlineExceeded))
	c, _ = e.Begin(nil, CallOptions[string]{Method: "y"})
	go e.Resolve(c.ID(), "later")
	v, err = c.Wait(nil)
	require.Equal(t, "later", v)
	require.NoError(t, err)
	t.Logf("%+v", e.Stats())
}
