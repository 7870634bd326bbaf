#!/bin/sh
# Instructions an operation, as docs/perf.md shows them: two runs under callgrind
# that differ in nothing but the number of operations. Wants valgrind. It counts
# this process alone and no kernel, and does not mind what else the machine does.
# Valgrind reads the clock by a system call, of which it sees next to nothing.
set -eu
few=20000 many=120000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Callgrind loses its way on signals, which preemption is made of, and in cgo.
cd "$(dirname "$0")"
CGO_ENABLED=0 go build -o "$dir/check" ./check
export GODEBUG=asyncpreemptoff=1 GOGC=off

count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$dir/check" -role calls "$@" 2>&1 >/dev/null |
		sed -n 's/.*I *refs: *//p' | tr -d ,
}

echo '| work | instructions |'
echo '|---|---:|'
row() {
	label=$1
	shift
	less=$(count "$@" $few)
	more=$(count "$@" $many)
	echo "| $label | $(((more - less + (many - few) / 2) / (many - few))) |"
}
row '1k pending: engine' window engine
row '1k pending: engine, no deadline' window 'engine, no deadline'
row '1k pending: engine, callbacks' window 'engine, callbacks'
row '1k pending: engine, string keys' window 'engine, string keys'
row '1k pending: card, pooled' window 'card, pooled'
row '1k pending: naive' window naive
row "1k pending: go-sdk's shapes" window "go-sdk's shapes"
row 'scan A' scan A
row 'scan B' scan B
row 'scan C' scan C
row 'scan D' scan D
