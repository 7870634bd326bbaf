// Package load keeps calls in flight and measures them: how many end a second,
// how long each takes, and what the process spends on them. It knows no client
// and no protocol; a call is a function.
//
// # Closed loop
//
// [Closed] runs callers that each wait for an answer before they ask again. They
// start once and run through a warm-up into the measured window, so that what
// starting them costs is in no figure. The window is as long as asked, and longer
// until every caller has had a turn, since the first answers of slow clients
// come too early to stand for the rest.
//
// # Open loop
//
// [Open] makes each call at its planned time, whatever became of those before,
// and takes its latency from there.
//
// # Budgets
//
// A client that deadlocks must not take the whole run with it: both loops give
// up with [ErrStuck] when nothing ends any more.
package load
