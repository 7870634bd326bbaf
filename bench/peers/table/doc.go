// Package table compares the engine's table of pending calls with the ways that
// others keep theirs, without any connection: n calls stay pending, each with a
// deadline of 30 s; an operation answers a random one of them, takes its outcome
// and registers a new one. The answer is always there before the wait.
//
// xsync's maps and sync.Map stand with a fresh channel and a timer a call, as one
// would build on them. The rivals' own tables are not to be had without their
// connections, so their shapes are rebuilt here from their source: the lock, the
// map, the key, the channel, the context or timer, in the same order; encoding
// and I/O left out.
package table
