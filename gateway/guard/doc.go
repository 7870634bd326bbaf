// Package guard ends the child processes of a program that cannot do it any more,
// because it was killed or is frozen. A Guard is a small process of the program's own
// kind which it starts and talks to over a pipe:
//
//	program ──watch, until, release──▶ guard       knows process groups, and until when each may live
//	   │                                 │
//	   └─▶ child ─▶ grandchild ◀──SIGTERM, SIGKILL──┘   at the end of the pipe, or when a lease is not kept
//
// The guard is in a session of its own, holds nothing but the two pipes, and ignores
// the signals by which terminals and service managers end whole groups. A child is
// started behind a gate that opens when the guard knows its process group, so there is no
// moment in which it runs and nobody would end it. What leaves its process group
// (setsid) is not followed.
//
// This works where Unix does; elsewhere children are started as always, and nobody ends
// them.
package guard
