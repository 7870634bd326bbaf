// Package link is what the gateway and its transports say to each other: frames on
// their way, who sent them, and the interfaces on both sides.
//
//	client ─▶ Client's transport ─▶ Receiver (a session) ─▶ Upstream's transport ─▶ server
//	client ◀─ Client.Send ◀──────── Owner (an upstream) ◀── Upstream's transport ◀─ server
//
// A transport reads messages and gives them to a [Receiver], one after the other
// for each stream, and sends what it is given by Send. It never decides where a
// message goes. Nothing here waits: Send either takes a frame or fails with
// [ErrFull], and whoever gave it says what follows from that.
//
// Frames are borrowed, both ways, until the call that brought them returns.
package link
