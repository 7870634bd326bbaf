package embedding_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// newInbox is a table of what was asked of us, under the ids that a client chose.
func newInbox() (*engine.Engine[string], error) {
	return engine.New(engine.Options[string]{
		CallerIDs:  true,
		MaxPending: 50_000, // also the size that the index is made for
		Shards:     32,     // of the index, each with locks of its own; zero is four to eight per CPU
		Timeout:    time.Minute,
		Overflow:   engine.OverflowWait, // Register waits for room, under its context
	})
}

// Ids of callers: 1 and "1" are two calls, and the second 1 is refused while the first
// is pending.
func Example_callerIDs() {
	inbox, err := newInbox()
	if err != nil {
		panic(err)
	}
	defer inbox.Close()
	ctx := context.Background()
	for _, id := range []codec.ID{codec.IntID(1), codec.StringID("1"), codec.IntID(1)} {
		_, err := inbox.Register(ctx, id, engine.CallOptions[string]{Notify: func(o engine.Outcome[string]) {
			fmt.Println(o.ID, o.Status, o.Value)
		}})
		fmt.Println(id, errors.Is(err, engine.ErrDuplicateID))
	}
	inbox.Resolve(codec.StringID("1"), "text")
	inbox.Resolve(codec.IntID(1), "number")
	// Output:
	// 1 false
	// "1" false
	// 1 true
	// "1" resolved text
	// 1 resolved number
}
