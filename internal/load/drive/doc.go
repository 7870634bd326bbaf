// Package drive sends the requests of a load test over one or several connections
// and reports what became of them. [Run] takes a [Config] and returns a [Result];
// [Audit] says whether the result adds up.
//
// # Open and closed loop
//
// With a schedule the loop is open: each request has a planned time, which does
// not depend on what the peer does, and its response time counts from there.
// When all of Config.InFlight calls are out, what is due waits for room and is
// sent after its time (counted as behind), or is dropped if asked so; the schedule
// goes on either way, so that a stall of the peer is seen by every call it made
// wait. Behind is said of requests only; late is an answer to a call that had
// ended.
//
// Without a schedule the loop is closed: as many callers as Config.InFlight each
// wait for their answer before they ask again, so a stall holds the sending back
// too, and the response time, from when the caller was free, hides it. It
// answers "how much can this carry", not "how long do my users wait".
//
// # Ways to call
//
// Batch hands everything that is due to Conn.Submit in one go, with callbacks;
// Callback hands requests over one by one; Blocking has a goroutine per caller
// in Conn.Call. In the first two one goroutine plans, sends and records: the
// callback, which runs on the connection's reader, only stamps the time and
// links its slot to a list that the goroutine takes whole.
//
// # Several connections
//
// The calls in flight are shared out among the connections; a request goes to the
// next one, in turn, that has a call of its share free. A connection whose peer
// does not read holds up its own share only. [Result.Connections] has what each got.
//
// # Looking on and steering
//
// Config.OnRow is told of each interval as it ends: a [tally.Row] with counts,
// the calls in flight, both latencies and, with Config.Histograms, their
// histograms, which then belong to whoever has the row. It is called on a
// goroutine of the run's sampler, so that what it does costs the measurement
// little; while it lasts, no other interval ends.
//
// A [Control] in Config.Control steers the run meanwhile:
//
//	control := new(drive.Control)
//	config.Control, config.OnEvent = control, func(e drive.Event) { ... }
//	control.Pause(); control.Resume(); control.Nudge(1.1); control.Stop()
//
// Config.OnEvent is told when the run has done what was asked, on the goroutine
// that sends: it must be quick. [Control.Steering] says what is asked for.
//
// # Invariants
//
// I1: a slot belongs to the pump, except between a successful Submit or Start
// and its callback, when it belongs to the connection.
// I2: every call that a connection accepted is recorded exactly once.
package drive
