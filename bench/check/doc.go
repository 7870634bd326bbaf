// Command check measures every performance claim of the project against what is
// demanded, next to its rivals in the same run, and exits with 1 when one falls
// short:
//
//	make bench-check
//	go run ./bench/check -only 'engine: 1k'
//
// Its flags are those of bench/claim; -list shows the claims. It starts itself
// again for what needs a process of its own. Give it a machine with nothing else
// to do: it wants two cores and about ten minutes.
package main
