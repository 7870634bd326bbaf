// Package rival holds what the library is measured against: correlators as
// people write them, and the exchange that no correlator can beat.
//
//   - [Naive]: a map, a mutex, a fresh channel and a timer per call.
//   - [GoSDK]: the lock, map, channel and context of the official MCP SDK's client
//     side, in the same shapes.
//   - [Card]: sharded concurrent maps, a hierarchical wheel under a lock per
//     shard, and calls from the heap or from a pool.
//   - [MutexMap]: a map and a mutex, no waiting and no deadlines: what a bare table
//     costs.
//   - [Floor]: requests and answers matched by order alone, with a wake-up per
//     call.
//
// Each is complete enough to be used, and written for speed within its design:
// no rival carries a burden that its design does not ask for.
package rival
