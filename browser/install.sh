#!/usr/bin/env bash
# Finds a Chromium for the browser tests, or installs Debian's, and leaves its path in
# .browser/path (ignored by git).
set -euo pipefail
cd "$(dirname "$0")/.."

found() {
	"$1" --version >/dev/null 2>&1 || return 1
	mkdir -p .browser
	printf '%s\n' "$1" >.browser/path
	echo "browser: $("$1" --version 2>/dev/null) at $1"
}

find_one() {
	local name path
	for name in "${CORRELATOR_BROWSER:-}" chromium chromium-browser google-chrome google-chrome-stable chrome headless_shell \
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
		[ -n "$name" ] || continue
		path=$(command -v "$name" || true)
		[ -n "$path" ] && found "$path" && return 0
	done
	return 1
}

find_one && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
	find_one && exit 0
fi
echo "browser: none found; install Chromium or Chrome, or name one in CORRELATOR_BROWSER" >&2
exit 1
