// Package bench measures the library against its rivals, across packages.
//
// It has two users. People run its benchmarks:
//
//	go test -bench Engine -benchmem ./bench
//	go test -bench 'Window/.*/pending=1000' ./bench
//
// And the program bench/check (make bench-check) measures every performance
// claim of the project with the same workloads and fails when one falls short;
// [Claims] lists them, and docs/perf.md shows what they measured.
//
// # Workloads of a pending table
//
//   - Window: n calls in flight, each with a deadline of 30 s. An operation
//     answers a random one of them, takes its outcome, and registers a new one.
//     Several goroutines each have their share of the n. The answer is always
//     there before the wait.
//   - Pipe: callers register, hand the call to one goroutine that answers, and
//     wait; they park nearly always.
//   - Cross: batches are registered on one goroutine and answered on another;
//     nobody parks for a single call.
//
// The engine is measured as a connection uses it: every call has a method, a
// start time, a total and an idle deadline, and the place of an observer.
//
// Times are wall time divided by all operations, so that perfect scaling on two
// cores halves what one goroutine shows.
package bench
