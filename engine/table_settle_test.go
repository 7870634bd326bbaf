package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

func TestResolveGivesTheValueOnce(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		c := r.begin(call{Method: "tools/call"})
		id := c.ID()
		r.pending(c)
		require.True(t, r.Resolve(id, "yes"))
		require.False(t, r.Resolve(id, "again"))
		require.False(t, r.Reject(id, errors.New("again")))
		require.False(t, r.Cancel(id, nil))
		require.Equal(t, outcome{ID: id, Value: "yes", Status: engine.Resolved}, r.outcome(c))
		require.ErrorIs(t, r.outcome(c).Err, engine.ErrConsumed)
		s := r.quiet()
		require.Equal(t, uint64(2), s.Duplicate)
		require.Equal(t, uint64(1), s.Resolved)
	})
}

func TestRejectGivesThePeersErrorAsItIs(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		peer := &codec.Error{Code: -32602, Message: "no such tool"}
		c := r.begin(call{})
		id := c.ID()
		require.True(t, r.Reject(id, peer))
		_, err := c.Wait(nil)
		require.Same(t, peer, err)
		sent, known := engine.Sent(err)
		require.True(t, sent && known, "a peer's error proves that the request was sent")

		c = r.begin(call{})
		require.True(t, r.Reject(c.ID(), nil))
		require.Error(t, r.outcome(c).Err, "an error without content is one all the same")
		require.Equal(t, uint64(2), r.quiet().Rejected)
	})
}

func TestUnknownIDsSettleNothing(t *testing.T) {
	unknown := []codec.ID{
		{}, codec.NullID(), codec.IntID(-1), codec.IntID(0), codec.IntID(77), codec.IntID(1 << 24),
		codec.IntID(5<<24 | 3), codec.IntID(1<<52 - 1), codec.IntID(1<<63 - 1), codec.IntID(-1 << 63),
		codec.StringID(""), codec.StringID("77"), codec.StringID("nobody"),
	}
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		c := r.begin(call{})
		for _, id := range unknown {
			if id == c.ID() {
				continue
			}
			require.False(t, r.Resolve(id, "x"), "%v", id)
			require.False(t, r.Reject(id, errors.New("x")), "%v", id)
			require.False(t, r.Cancel(id, nil), "%v", id)
			require.False(t, r.Touch(id), "%v", id)
			require.False(t, r.Dispatch(id), "%v", id)
			_, ok := r.Method(id)
			require.False(t, ok)
			_, ok = r.Age(id)
			require.False(t, ok)
		}
		r.pending(c)
		require.True(t, r.Cancel(c.ID(), nil))
		c.Discard()
		r.quiet()
	})
}

func TestTimedOutIDIsAMiss(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		c := r.begin(call{Timeout: time.Second})
		id := c.ID()
		r.expire(time.Second)
		require.False(t, r.Resolve(id, "late"))
		require.False(t, r.Reject(id, errors.New("late")))
		require.False(t, r.Cancel(id, nil))
		require.ErrorIs(t, r.outcome(c).Err, engine.ErrTimeout)
		require.Equal(t, uint64(2), r.quiet().Late)
	})
}

func TestCancelNamesTheCallOrTheCause(t *testing.T) {
	cause := errors.New("user went away")
	for name, err := range map[string]error{"default": nil, "custom": cause} {
		t.Run(name, func(t *testing.T) {
			eachKind(t, options{}, func(t *testing.T, r *rig) {
				c := r.begin(call{Method: "tools/call"})
				id := c.ID()
				r.clock.Advance(3 * time.Second)
				require.True(t, r.Cancel(id, err))
				require.False(t, c.Cancel(err))
				o := r.outcome(c)
				require.Equal(t, engine.Cancelled, o.Status)
				require.ErrorIs(t, o.Err, engine.ErrCancelled)
				require.NotErrorIs(t, o.Err, engine.ErrTimeout)
				if err != nil {
					require.ErrorIs(t, o.Err, cause)
				}
				e, ok := errors.AsType[*engine.CallError](o.Err)
				require.True(t, ok)
				require.Equal(t, &engine.CallError{
					ID: id, Method: "tools/call", Status: engine.Cancelled, Elapsed: 3 * time.Second, Err: err,
				}, e)
				require.Contains(t, e.Error(), "tools/call")
				require.Contains(t, e.Error(), id.String())
				r.quiet()
			})
		})
	}
}
