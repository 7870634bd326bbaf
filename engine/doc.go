// Package engine is the table of pending requests: it registers calls under ids,
// settles each of them exactly once, keeps their deadlines, and fails all of them
// when the connection goes. It sends nothing and reads nothing; a connection does
// that (package conn), or a program with a transport of its own.
//
//	e, err := engine.New(engine.Options[[]byte]{})
//	call, err := e.Begin(ctx, engine.CallOptions[[]byte]{Method: "tools/call"})
//	// send the request under call.ID(); then, on whatever goroutine reads answers:
//	e.Resolve(id, result)
//	// and on the caller's:
//	result, err := call.Wait(ctx)
//
// # Ids
//
// An engine has one source of ids, fixed by [New]. Minted ids are integers of at
// most 52 bits, which every JSON peer carries unharmed; one is never used again on
// the same engine. Or the caller brings the ids ([Options.CallerIDs]): integers,
// strings, other numbers, compared by type and value, so 1 and "1" are two ids; an
// id may come back once its call is settled.
//
// # The life of a call
//
//	                        ┌─▶ callback ──┐
//	            register    ├─▶ discarded ─┤  settle: resolve, reject,
//	free slot ──────────────┴─▶ pending ───┤  cancel, expire, fail
//	    ▲                       parked     │
//	    │                       watched    ▼
//	    └──────── consume ◀─────────── answered, ended
//
// A call waits in one slot, one cache line, whose whole life is one atomic word
// (word.go draws all its states). Whoever settles the call claims it by one
// compare-and-swap on that word, which is the moment at which it ends: of any
// number of Resolve, Reject, Cancel, FailAll and deadlines exactly one wins, and
// the others report false. What comes after that is late: it is counted and
// dropped, and never an error.
//
// There are three ways to get the outcome: [Call.Wait], which parks only if it
// must; [Call.Done] and [Call.Outcome], for a select; and a callback
// ([CallOptions.Notify]), for programs that have no goroutine per call. With
// [Call.Discard] nobody gets it.
//
// # Callbacks
//
// Callbacks, the observer and the abandon hook run on the goroutine that settled
// the call: the reader of answers, one that cancels, or the driver's timer. They
// run when the call's slot is consistent and no lock is held, so they may use the
// engine freely: register, settle, fail all. They must not block, for other calls
// depend on their goroutine; under [OverflowWait] a callback that registers sets
// NoWait. Callbacks that settle calls with callbacks nest, up to a depth; beyond it
// they are put off until one has returned. A panic is counted, told to
// Options.OnPanic and goes no further. One that ends its goroutine (runtime.Goexit,
// the FailNow of a test) ends nothing else: what that goroutine had begun goes on,
// on the driver's timer or, if need be, on another goroutine.
//
// Waiting is blocking too: a callback may take the outcome of a call that has
// settled, and one that FailAll tells of a failure finds every call of that FailAll
// settled. To wait for a call that is pending may be to wait for oneself.
//
// # Deadlines
//
// A call has up to three: total (60 s by default, nothing moves it), idle ([Engine.Touch]
// starts it anew) and the context's given to Begin. The earliest ends it. They are
// kept in a timing wheel (package wheel) with ticks of 1 ms, driven by one timer
// of [Options.Clock]: there is no goroutine, and when nothing is armed nothing
// runs. A call never expires early; it is late by at most one tick and what the
// timer is late by. A storm takes as long as it takes, in portions between which
// others run.
//
// # Limits
//
// Options.MaxPending bounds the calls that are pending, or settled and not yet
// consumed. A call that settled and that nobody came for is reclaimed when its
// total deadline (its idle one if it has no other) and Options.Grace are over.
// Calls without any deadline, and ids that NextID reserved and nobody registered,
// stay until the table is full; then those are reclaimed that a search, made at
// most once a second, saw at least Options.Timeout (60 s when there is none) and
// the grace ago. A closed engine reclaims nothing: it goes as a whole.
//
// A slot is used for 2^28 - 1 calls and then retired; the table grows by as many
// slots as were retired, up to SlotsMax, and then registering gives
// ErrIDsExhausted: 2^52 calls are a century of a million a second.
//
// # Costs
//
// With minted ids no call allocates, once the table has grown; the first call that
// parks in a slot makes its wake-up channel. A caller's id costs one allocation,
// the entry of the index. Memory per slot is 64 bytes and 12 of the wheel, and 32
// for calls with a method or a deadline; with callers' ids 8 for an integer or 16
// for a text, and the index's entry of about 50. Slots are never given back; their
// number follows the peak in flight. A table of more than two thousand is made larger
// ahead of need while it grows, by a goroutine that ends with that: by as much again,
// and at most by 49,152 slots. Len, Pending and Stats walk the table.
//
// # Invariants
//
// Built with the tag "invariants" these are proved while it runs, and the tests
// hold the engine to them by a model, by litmus tests and under the race detector.
//
//   - I1 exactly once: every registered call is settled once, and its outcome is
//     given out once.
//   - I2 no mistaken identity: a stale reference never settles, reads or frees
//     another call.
//   - I3 never early: a call expires only after its deadline.
//   - I4 fixed total: nothing moves the total deadline.
//   - I5 bounded: slots in use are at most MaxPending, and the wheel holds each at
//     most once.
//   - I6 no user code while a slot is half-written or a lock is held. (Detach, which
//     makes the outcome, runs while the call is nobody else's.)
//   - I7 none slips through: after a closing FailAll returned, every call ever
//     registered is settled or will be by the goroutine that registers it.
//
// # Memory order
//
// Go's atomics are sequentially consistent, so of two goroutines that each store
// one thing and then load the other's, at least one sees the other. The engine
// rests on these pairs:
//
//	one side                              other side
//	begin: store word, load resident      driver: clear resident, load word
//	begin: store word, load stage         driver: clear stage, load word
//	stage: push slot, load wake           driver: store wake, take the list again
//	begin: store word, load failure       FailAll: store failure, load words
//	inspect: set inspecting, load word    begin: take slot, load inspecting
//	free: push slot, load waiting         room: raise waiting, look for slots
//	Dispatch: store sent, load word       settle: claim word, load sent
//	callback: leave, load waiting         put off: raise waiting, load depth
//	run: leave busy, load again           run: store again, try busy
//	Discard: mark dropped, load word      settle: store word, load dropped
//
// What is not atomic in a slot is handed over by the word: the store of a live word
// publishes what registering wrote, a claim hands it to the winner, the store of a
// settled word publishes the outcome, and the compare-and-swap on a stack's head
// hands the slot to its next user.
package engine
