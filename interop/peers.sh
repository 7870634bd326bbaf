#!/usr/bin/env bash
# Installs the real peers into .peers (ignored by git): gopls into .peers/bin, and
# those written in TypeScript, at the versions of interop/peers/package-lock.json,
# with an npm cache of its own, which needs Node 20 or newer. Does nothing for what
# stands there already.
set -euo pipefail
cd "$(dirname "$0")/.."

# The newest that builds with the Go of this repository. Outside of any module, so
# that its requirements are its own.
gopls=v0.23.0
if [ "$(cat .peers/bin/gopls.version 2>/dev/null)" = "$gopls" ]; then
	echo "peers: gopls $gopls is up to date in .peers/bin"
else
	mkdir -p .peers/bin
	GOBIN="$PWD/.peers/bin" go install "golang.org/x/tools/gopls@$gopls"
	echo "$gopls" >.peers/bin/gopls.version
	echo "peers: gopls $gopls installed into .peers/bin"
fi

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
