// Package drive sends the requests of a load test over a connection and reports
// what became of them. [Run] takes a [Config] and returns a [Result]; [Audit]
// says whether the result adds up.
//
// # Open and closed loop
//
// With a schedule the loop is open: each request has a planned time, which does
// not depend on what the peer does, and its response time counts from there.
// When all of Config.InFlight calls are out, what is due waits for room and is
// sent late (counted as behind), or is dropped if asked so; the schedule goes on
// either way, so that a stall of the peer is seen by every call it made wait.
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
// # Invariants
//
// I1: a slot belongs to the pump, except between a successful Submit or Start
// and its callback, when it belongs to the connection.
// I2: every call that the connection accepted is recorded exactly once.
package drive
