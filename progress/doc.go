// Package progress is acknowledged progress: a handler reports how far it is and
// learns whether its report was written.
//
//	transport                               worker
//	sink := NewSink(limits)
//	state := sink.State()
//	reporter := sink.Bind(context) ───────▶ reporter
//	                                        report := reporter.Submit(update, answer)
//	frame := state.Accept(report)  ◀─────── report
//	… writes frame …
//	report.Reply(nil)              ───────▶ answer(nil)
//	reporter.End()                          the handler has returned
//	sink.Close()
//
// Nothing here waits: package serve has the Report that blocks until the answer
// comes. The package has no clock and no goroutine either. Where time matters
// ([Deadline]) it is an argument.
//
// # Who may report
//
// A sink is bound once, and the [Reporter] that Bind returns is the right to
// report: a value that can be handed on, to a goroutine that the handler starts
// for one. The right ends with the handler, for every copy of it: after
// [Reporter.End] a report gets [ErrWrongProcess], and so does who binds a sink a
// second time. Nobody can make another: a report that did not come from the
// sink's own reporter is refused by Accept with [ErrWrongSink].
//
// # The gate
//
// At most one report of a request is under way. A second one gets [ErrBusy];
// nothing is queued. Only Reply opens the gate again, never a timeout: a worker
// that stopped waiting does not know whether its report was written ([ErrTimeout]
// says so), and may not overtake it.
//
// # Order of the checks
//
// Submit: the update's form ([ErrInvalidProgress]), with or without a binding; no
// binding is a success that does nothing; [ErrWrongProcess]; [ErrClosed];
// [ErrCancelled]; the message's length ([ErrInvalidProgress]); [ErrBusy].
//
// Accept: [ErrInvalidReport]; [ErrWrongSink]; [ErrClosed]; [ErrCancelled]; the form
// once more; [ErrNotIncreasing]; [ErrLimitReached]; [ErrInvalidNotification]. What
// is refused costs no budget and moves no mark.
//
// # Concurrency
//
// A Sink and a Reporter are safe for concurrent use. A State has one owner, the
// goroutine or the lock that serialises the request's frames. What Context gives
// is called by whoever calls Submit and Accept.
package progress
