// Command check measures every performance claim of the project against what is
// demanded, next to its rivals in the same run, and exits with 1 when one falls
// short:
//
//	make bench-check
//	go run ./bench/check -only 'engine: 1k'
//
// Its flags are those of bench/claim; -list shows the claims. It starts itself
// again for what needs a process of its own. Give it a machine with nothing else
// to do: it wants two cores and about twelve minutes.
//
// docs/perf.md is written by people but for its tables, which a run renews, those
// of bench/peers from the report of that program:
//
//	go run ./bench/check -update docs/perf.md
//	go run ./bench/check peers docs/perf.md docs/peers.json
//
// With -profile it leaves profiles of the children that measure:
//
//	go run ./bench/check -profile profiles -only '^conn: 1024 in flight'
//	go tool pprof -top profiles/conn-blocking-1024-100-*.cpu
package main
