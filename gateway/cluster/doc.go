// Package cluster lets any node serve any client while a server's child lives on one.
// It stands between the gateway and an opener, on both sides of the wire:
//
//	node A: gateway ─▶ cluster's link.Opener ═══ NATS ═══▶ node B: cluster's host ─▶ the upstream's link.Opener
//
// A way to an upstream is owned by the node that holds its lease in a JetStream
// key-value bucket. Calls, cancels and progress go to the owner's inbox, answers to the
// inbox of the node that asked. The owner ends its child before its lease can expire,
// so there are never two.
package cluster
