#!/usr/bin/env bash
# Installs the peers written in TypeScript, at the versions of
# interop/peers/package-lock.json, into .peers (ignored by git, with an npm cache
# of its own). Needs Node 20 or newer. Does nothing if they stand there already.
set -euo pipefail
cd "$(dirname "$0")/.."

lock=interop/peers/package-lock.json
if cmp -s "$lock" .peers/package-lock.json && [ -f .peers/installed ]; then
	echo "peers: up to date in .peers"
	exit 0
fi
command -v npm >/dev/null || { echo "peers: npm is needed (Node 20 or newer)" >&2; exit 1; }
rm -rf .peers/installed .peers/node_modules
mkdir -p .peers
cp interop/peers/package.json "$lock" .peers/
(cd .peers && npm ci --ignore-scripts --no-audit --no-fund --cache "$PWD/.npm-cache")
touch .peers/installed
echo "peers: installed into .peers"
