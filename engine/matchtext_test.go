package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

func TestMatchText(t *testing.T) {
	number := func(text string) codec.ID {
		id, err := codec.ParseID([]byte(text), codec.JSONRPC)
		require.NoError(t, err)
		return id
	}
	for _, c := range []struct {
		name     string
		id       codec.ID
		answered codec.ID
		want     bool
	}{
		{"text of an integer", codec.IntID(-7), codec.StringID("-7"), true},
		{"integer of a text", codec.StringID("7"), codec.IntID(7), true},
		{"text of a large number", number("18446744073709551616"), codec.StringID("18446744073709551616"), true},
		{"text of a fraction", number("1.50"), codec.StringID("1.50"), true},
		{"the same number written otherwise", number("1.50"), codec.StringID("1.5"), false},
		{"leading zero", codec.IntID(7), codec.StringID("07"), false},
		{"space", codec.IntID(7), codec.StringID(" 7"), false},
		{"quotes in the text", codec.StringID("5"), codec.StringID("\"5\""), false},
		{"null", codec.StringID("null"), codec.NullID(), false},
		{"text of null", codec.NullID(), codec.StringID("null"), false},
		{"no number", codec.StringID("x"), codec.StringID("y"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := engine.New(engine.Options[string]{CallerIDs: true, MatchText: true})
			require.NoError(t, err)
			call, err := e.Register(context.Background(), c.id, engine.CallOptions[string]{})
			if err != nil { // null is no id to register
				require.Equal(t, codec.IDNull, c.id.Kind())
				return
			}
			require.Equal(t, c.want, e.Resolve(c.answered, "v"))
			require.Equal(t, c.want, e.Len() == 0)
			call.Discard()
		})
	}
}
