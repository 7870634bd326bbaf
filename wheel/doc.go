// Package wheel is a hierarchical timing wheel: deadlines go in, entries that
// are due come out, and nothing else happens. It has no clock, no goroutine, no
// lock and no callback; the owner says what time it is.
//
//	var w wheel.Wheel
//	w.Grow(1)                         // entry 0 exists now
//	w.Schedule(0, 30)                 // due at tick 30
//	due, more := w.Advance(30, buf)   // due = [0]
//
// # Entries
//
// An entry is a number below the bound given to [Wheel.Grow], so the owner's own
// table index serves as its timer. An entry is resident (in the wheel) at most
// once. The wheel keeps 12 bytes an entry (next, previous, deadline) in flat
// chunks without a pointer in them: growing copies no entry, and the collector
// has nothing to scan.
//
// # Levels
//
// Time is a 32-bit [Tick] and wraps; every comparison is modular. Five levels of
// 64 buckets hold the residents by how far away they are when placed:
//
//	level   a bucket spans   deadlines placed there   at 1 ms a tick
//	  0              1 tick   0 to 63 ticks ahead      64 ms
//	  1             64        up to 2^12 - 1           4.1 s
//	  2           4096        up to 2^18 - 1           4.4 min
//	  3           2^18        up to 2^24 - 1           4.7 h
//	  4           2^24        up to 2^30 - 1           12.4 days
//	 edge                     up to 2^31 - 1           24.8 days
//
// A deadline beyond level 4 waits in its farthest bucket, the edge, and is placed
// again when the wheel gets there. When the wheel reaches a bucket of level 1 to
// 4, it takes the bucket whole and places each entry again, one level lower at
// least. A word of 64 bits per level says which buckets are occupied, so the next
// thing to do is five rotations and five counts of trailing zeros away, and a
// clock that leaps by hours costs no more than the occupied buckets it passes.
//
// # Costs
//
// Schedule, Cancel and At are O(1). An entry is moved at most once per level in
// its life (and once per 2^30 - 2^24 ticks at the edge). One call of
// [Wheel.Advance] hands out no more entries than its buffer has room for and
// moves no more than [MovesMax] entries; it says when there is more to do. No
// call allocates but Grow.
//
// # Precision
//
// An entry never comes out before its deadline, and comes out in the first
// Advance at or after it (unless that call ran out of room and said so).
// Deadlines that passed before Schedule, or are now, come out in the next
// Advance. Entries come out in the order of their deadlines, except those that
// were already past when scheduled.
//
// # Invariants
//
// Built with the tag "invariants", the wheel proves these while it runs:
//
//   - I1 once: an entry is in exactly one bucket while resident, and in none else.
//   - I2 occupancy: a level's bit is set exactly when the bucket has entries.
//   - I3 window: an entry lies in a bucket that the wheel reaches at or before its
//     deadline.
//   - I4 count: Len is the number of residents.
//   - I5 never early: what Advance hands out is due.
//   - I6 complete: when Advance reports no more, no resident is due.
//   - I7 next: Next is never later than the earliest deadline.
//
// # Concurrency
//
// A Wheel has one owner at a time. It is not safe for concurrent use, reading
// included; hand it over through whatever already orders the owners.
package wheel
